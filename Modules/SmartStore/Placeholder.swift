// Replaced by this folder's first type.
