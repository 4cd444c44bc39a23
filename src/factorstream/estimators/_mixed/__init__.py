"""Tables with columns of every kind: how they become rows of numbers, and how answers become tables again."""
