// The answer of a script in a page, which may be in a frame, stands in the outer page.
function say(lines) {
  const answer = document.createElement("pre");
  answer.id = "said";
  answer.textContent = `${lines.join("\n")}\nEND`;
  window.parent.document.body.append(answer);
}
