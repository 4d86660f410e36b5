"""The web console: what a team sees of its jobs and executions in a browser.

A page on loopback that talks to a stage through this process, which signs every call with the owner's own credentials.
The page itself is built in `console/` at the project's root and committed here, so that installing needs no Node.
"""
