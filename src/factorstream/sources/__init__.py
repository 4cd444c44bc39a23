"""Where data come from: files on disk, read and written back without losing anything."""
