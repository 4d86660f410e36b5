"""Work of more than one step, told as stories over the whole service in memory."""
