"""The model: questions to it, replies of it, and the store that keeps them."""
