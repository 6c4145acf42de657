"""Train a model: batches, loop, checkpoints, several processes, scores."""
