"""The ports' implementations: the only place that knows AWS, HTTP or any other outside."""
