"""The parts that the stacks are made of, one capability each."""
