// Talking to the server: what was decided is sent until it is answered -------------------------------------------------

const trouble = by("trouble");
const AGAIN = 1500;  // milliseconds between attempts

class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(path, body) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, body === undefined ? {} : options);
  const kind = response.headers.get("content-type") || "";
  const answer = kind.startsWith("application/json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Refusal(answer.error || answer.detail || `status ${response.status}`, response.status);
  return answer;
}

async function insist(path, body) {  // a server that is away, or cannot write, is asked again; the same call is safe twice
  for (;;) {
    try {
      const answer = await ask(path, body);
      trouble.hidden = true;
      return answer;
    } catch (error) {
      if (error instanceof Refusal && error.status < 500) {
        trouble.hidden = true;
        throw error;
      }
      const why = error instanceof Refusal ? error.message : "The server does not answer";
      complain(`${why}. What you decided is kept here and sent again until it is stored; leave this page open.`);
      await new Promise((done) => setTimeout(done, AGAIN));
    }
  }
}

function complain(text) {
  trouble.textContent = text;
  trouble.hidden = false;
}
