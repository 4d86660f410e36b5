"""Use cases over narrow ports: values in, values out, `now` an argument."""
