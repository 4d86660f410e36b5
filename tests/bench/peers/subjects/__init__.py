"""What each of the others runs, in its own words; these modules run in `.venv-peers` and import nothing of the project.

PEERS_URL is the target, PEERS_JOBS how many jobs there are, PEERS_DIR a folder of its own; PEERS_REDIS and
PEERS_POSTGRES name the servers. Each job calls the target's path of its own at every full minute.
"""
