"""The examples in docs/ do what they say."""
