"""The client library for teams: the API's calls as typed methods."""
