"""Calling HTTP targets: resolve, judge every address, connect to a judged one, for a bounded time and size."""
