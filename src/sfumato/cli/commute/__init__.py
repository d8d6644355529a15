"""`sfumato commute`: synthetic origin–destination data, its evaluation, and the map."""
