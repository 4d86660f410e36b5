"""The store in DynamoDB. `schema` is pure data; `store` and `setup` talk to the service."""
