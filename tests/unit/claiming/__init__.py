"""What a timer becomes, decided without any store."""
