/**
 * `npm run check:words`: checks that comments, strings and names use the field's words. `npx tsx .ci/words.ts src/Retry.ts test/client`
 * checks only these files and folders. The last line is JSON; the exit code is 1 if an old word is left, or if 3 % or more of the
 * doc comments in `src` begin with a question word.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import ts from "typescript"

type Kind = "comment" | "string" | "name"

interface Row {
  /** Matches the old word. Names are split into words first: `heldBack` is read as `held back`. */
  readonly old: RegExp
  readonly better: string
  /** Text with this meaning is fine; it is removed before the search. */
  readonly except?: RegExp
  /** Only these kinds of text are searched. Default: all. */
  readonly kinds?: ReadonlyArray<Kind>
  /** Only files with these paths are searched. Default: all. */
  readonly files?: RegExp
  /** Files with these paths are not searched. */
  readonly notFiles?: RegExp
}

const prose: ReadonlyArray<Kind> = ["comment", "string"]

const table: ReadonlyArray<Row> = [
  { old: /\b(un)?answer(s|ed|ing|able)?\b/, better: "response, respond" },
  { old: /\blanes?\b/, better: "operation state, queue per operation" },
  { old: /\b(beliefs?|believe[sd]?)\b/, better: "estimate, estimator, assume" },
  { old: /\b(un)?seal(s|ed|ing)?\b/, better: "encrypt, encrypted" },
  { old: /\bwatch(es)?\b/, better: "telemetry", kinds: ["name"], except: /\bwatch files?\b/ },
  { old: /\b(the|a|an|its|each|one|call's) watch(es)?\b/, better: "telemetry", kinds: prose },
  {
    old: /\bh(e|o)ld(s|ing)?( (it|them|calls?|a call|others?|requests?))? back\b/,
    better: "throttled, waits for a permit"
  },
  { old: /\b(sent|sends?|sending)( (it|them))? (again|once more)\b/, better: "is retried, retry" },
  { old: /\b(taken?|takes|took)( (it|them))? for\b/, better: "ignored, treated as", except: /\bfor granted\b/ },
  {
    old: /\b(the|a|an|one|each|every|its|this|that|first|last|next|per|another) turns?\b/,
    better: "attempt",
    kinds: prose
  },
  { old: /^turns?$|\b(my|own|next|last|first) turn\b|\bturn of\b/, better: "attempt", kinds: ["name"] },
  { old: /\bcourses?\b/, better: "run, retry loop", except: /\b(of course|in the course of)\b/ },
  { old: /\btall(y|ies|ied)\b/, better: "progress, count" },
  { old: /\bnews\b/, better: "changes, event" },
  { old: /\bgates?\b/, better: "queue" },
  { old: /\balarms?\b/, better: "timer" },
  { old: /\brings?\b/, better: "timer fires, time-out" },
  {
    old: /\bmembers?\b/,
    better: "field, optional field",
    // Fleets and unions have members, and the assertions on arrays are called so.
    except:
      /\b(fleet|union)('s)? members?\b|\bmembers? of (a|the|one) (fleet|union)\b|\b(same|include|not include)( deep| ordered| any| all)* members\b/,
    notFiles: /fleet|redis|SharedStore|stampede/i
  },
  { old: /\bsilence\b/, better: "idle time-out, keep-alive" },
  { old: /\b(un)?told\b/, better: "rate-limit headers, receives, is reported", except: /\btold apart\b/ },
  { old: /\bsuppl(y|ies)\b/, better: "quota, bucket", kinds: ["name"] },
  {
    old: /\b(the|a|an|one|each|every|its|this|that|whose|bucket's) suppl(y|ies)\b|\bsuppl(y|ies) (of|is)\b/,
    better: "quota, bucket",
    kinds: prose,
    except: /\b(that|which) supplies\b/ // the verb
  },
  { old: /\b(the|a|no|of|given|gives?|without|gets?) leave\b/, better: "permit", kinds: prose },
  { old: /\b(is|was|are|were|be) away\b/, better: "store unavailable" },
  { old: /\b(un)?learned\b/, better: "snapshot, stored state", kinds: ["name"] },
  { old: /\bpromised\b/, better: "decoder, validator, schema" },
  { old: /\bobserve[sd]?\b/, better: "settle a permit", kinds: ["name"], files: /limiter/i },
  {
    old:
      /\b(is|are|was|were|be|being|been) (never )?repeated\b|\brepeated (attempt|call|request)s?\b|\brepeats? (a|the) (call|request)\b/,
    better: "retry, is retried",
    kinds: prose,
    notFiles: /redeliver/i // where it is an option
  },
  { old: /\btakes? part\b/, better: "fleet member, process" },
  { old: /\bwhoever\b/, better: "a noun" },
  { old: /\bbe it\b/, better: "whether … or …" },
  { old: /\bso many\b/, better: "a number" },
  { old: /\bone's own\b/, better: "its own" },
  { old: /\bof which\b/, better: "a second sentence" },
  { old: /\bnothing's\b/, better: "plain words" }
]

const riddle = /^(What|How|Who|Whether|Where|When)\b/

const root = join(import.meta.dirname, "..")

interface Piece {
  readonly kind: Kind
  readonly text: string
  readonly position: number
}

/** All comments, strings and names of a TypeScript file. */
const piecesOf = (source: ts.SourceFile): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return // read as part of the text before a token
    const children = node.getChildren(source)
    if (children.length > 0) return children.forEach(visit)
    const [from, to] = [node.getFullStart(), node.getStart(source)]
    // Only comments and white space lie between two tokens.
    const between = source.text.slice(from, to)
    for (const { 0: text, index } of between.matchAll(/\/\*[^]*?\*\/|\/\/.*/g)) {
      pieces.push({ kind: "comment", text, position: from + index })
    }
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      pieces.push({ kind: "name", text: node.text, position: to })
    } else if (
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node) ||
      ts.isJsxText(node)
    ) {
      if (!ts.isImportDeclaration(node.parent) && !ts.isExportDeclaration(node.parent)) {
        pieces.push({ kind: "string", text: node.text, position: to })
      }
    }
  }
  visit(source)
  return pieces
}

/** Splits a name into words: `isHeldBack` into `is held back`. */
const wordsOf = (name: string): string =>
  name.replace(/[_$]+/g, " ").replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ").trim().toLowerCase()

/** Joins the lines of a comment, so that a phrase may span two of them. */
const joined = (text: string): string => text.replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, (all) => " ".padEnd(all.length))

const asked = process.argv.slice(2).map((path) => relative(root, resolve(path)).replaceAll("\\", "/"))
for (const path of asked) {
  if (!existsSync(join(root, path))) throw new Error(`${path}: no such file or folder`)
}

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8"
})
  .split("\n")
  .filter((file) => /^(src|test|examples|\.ci)\/.*(?<!\.d)\.[cm]?[jt]sx?$|^\.ci\/run$|\.md$/.test(file))
  .filter((file) => file !== ".ci/words.ts" && existsSync(join(root, file)) && statSync(join(root, file)).isFile())
  .filter((file) =>
    asked.length === 0 || asked.some((path) => path === "" || file === path || file.startsWith(`${path}/`))
  )

let docComments = 0
let riddles = 0
let oldWords = 0

for (const file of files) {
  const text = readFileSync(join(root, file), "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const pieces = !/\.[cm]?[jt]sx?$/.test(file) ? [{ kind: "comment", text, position: 0 } as const] : piecesOf(source)
  const report = (position: number, found: string, better: string) =>
    console.log(`${file}:${source.getLineAndCharacterOfPosition(position).line + 1}  ${found}  →  ${better}`)
  for (const { kind, position, text } of pieces) {
    if (kind === "comment" && text.startsWith("/**") && file.startsWith("src/")) {
      docComments += 1
      const [word] = riddle.exec(text.replace(/^\/\*\*[\s*]*/, "")) ?? []
      if (word !== undefined) {
        riddles += 1
        report(position, `doc comment begins with ${word}`, "a verb or a noun")
      }
    }
    const searched = kind === "name" ? wordsOf(text) : joined(text)
    for (const { better, except, files, kinds, notFiles, old } of table) {
      if (kinds?.includes(kind) === false || files?.test(file) === false || notFiles?.test(file) === true) continue
      const flags = kind === "name" ? "g" : "gi"
      const remaining = except === undefined
        ? searched
        : searched.replace(new RegExp(except.source, flags), (all) => " ".padEnd(all.length))
      for (const { 0: found, index } of remaining.matchAll(new RegExp(old.source, flags))) {
        oldWords += 1
        report(position + (kind === "name" ? 0 : index), kind === "name" ? text : `“${found}”`, better)
      }
    }
  }
}

const isFine = oldWords === 0 && riddles < 0.03 * Math.max(docComments, 1)
console.log(JSON.stringify({ docComments, riddles, oldWords }))
if (!isFine) process.exitCode = 1
