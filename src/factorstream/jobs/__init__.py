"""What the commands do with files, beside filling them (`completion`); nothing here prints or parses arguments."""
