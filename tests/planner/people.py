"""What the tests know about people."""

PASSWORD = "correct horse battery staple"
