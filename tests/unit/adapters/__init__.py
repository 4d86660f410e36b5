"""The adapters' own decisions, without the services behind them."""
