"""Source text and what is made of it: spans, the outline, and the lowered program of small node classes."""
