"""What the paper compares with, behind the same interface."""
