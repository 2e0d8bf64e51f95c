"""What evaluates trials: this process, worker processes that can be killed, or an executor of the user's."""
