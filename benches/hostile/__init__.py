"""The attacks of benches/attacks.py.

- `attack`: their list, and the processes that run them; `client`: connections; `organization`: the server's content;
- the others: the attacks.
"""
