// Reads GitHub's files by GitHub's own language services, and evaluates every expression in them. One question a line:
// {kind, text, contexts, status}; one answer a line: {errors, document}, `if` by the rule that it implies success().
import { register } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// The package imports its schemas in a way that only bundlers understand.
const json = `import { readFileSync } from "node:fs";
export const load = (url, context, next) => !url.endsWith(".json") ? next(url, context) :
  { format: "module", source: "export default " + readFileSync(new URL(url)), shortCircuit: true };`;
register(`data:text/javascript,${encodeURIComponent(json)}`);

const from = (path) => import(pathToFileURL(`${process.argv[2]}/${path}.js`).href);
const { Evaluator, Lexer, Parser, data } = await from("expressions/dist/index");
const { truthy } = await from("expressions/dist/result");
const { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow, isBasicExpression, isMapping, isSequence } =
  await from("workflow-parser/dist/index");
const { convertActionTemplate, parseAction } = await from("workflow-parser/dist/actions/index");
const { convertToIfCondition } = await from("workflow-parser/dist/model/converter/if-condition");
const { splitAllowedContext } = await from("workflow-parser/dist/templates/allowed-context");

async function answer({ kind, text, contexts, status }) {
  const file = { name: kind, content: text };
  const [parse, convert] = kind === "action" ? [parseAction, convertActionTemplate] : [parseWorkflow, convertWorkflowTemplate];
  const { context, value } = parse(file, new NoOperationTraceWriter());
  if (value) await convert(context, value);
  const errors = context.errors.getErrors().map((error) => error.message);
  if (errors.length) return { errors };

  const given = JSON.parse(JSON.stringify(contexts), data.reviver);
  const evaluated = (token) => {
    const { namedContexts, functions } = splitAllowedContext(token.definitionInfo?.allowedContext ?? []);
    const tree = new Parser(new Lexer(token.expression).lex().tokens, namedContexts, functions).parse();
    const known = functions.map((one) => [one.name.toLowerCase(), { ...one, call: () => new data.BooleanData(status[one.name]) }]);
    return new Evaluator(tree, given, new Map(known)).evaluate();
  };
  const plain = (token) => {
    if (isMapping(token)) {
      return Object.fromEntries([...token].map(({ key, value }) => [
        key.toString(),
        key.toString() === "if" ? truthy(evaluated(convertToIfCondition(context, value))) : plain(value),
      ]));
    }
    if (isSequence(token)) return [...token].map(plain);
    return isBasicExpression(token) ? evaluated(token).coerceString() : token.toString();
  };
  return { errors, document: plain(value) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line)).catch((error) => ({ errors: [String(error.stack)] }));
  console.log(JSON.stringify(reply));
}
