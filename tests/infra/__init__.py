"""What is deployed: the templates, the assets, the alarms and the documents that speak of them."""
