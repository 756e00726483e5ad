"""What models are asked, as versioned data; in the form of scoring.prompts."""
