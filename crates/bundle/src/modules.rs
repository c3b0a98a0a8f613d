//! Modules: their imports and exports, and joining them.

use crate::strip::Writer;
use crate::tokens::{Kind, Token, error_at, tokens};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Prefix of the names of modules in the joined script. Modules may not use such names.
const PREFIX: char = '$';

/// Between the parts of a module's code: a path that is imported on demand.
const ON_DEMAND: char = '\u{0}';

/// Names that a module gets from another one.
enum Names {
    /// `import "x"`.
    None,
    /// `* as name`, and `*` in re-exports.
    All(Option<String>),
    /// `{ name, name as other }`: the name there and here.
    Some(Vec<(String, String)>),
}

struct Import {
    from: String,
    names: Names,
    is_exported: bool,
}

/// A module, split into its imports, exports and the rest.
#[derive(Default)]
struct Module {
    imports: Vec<Import>,
    /// Names here, and names for others.
    exports: Vec<(String, String)>,
    /// The code without imports and exports. Imports on demand are paths between two [`ON_DEMAND`].
    code: String,
    on_demand: Vec<String>,
}

/// All modules, by path.
pub struct Modules {
    modules: BTreeMap<String, Module>,
}

/// A script: modules in the order in which they run.
pub struct Chunk {
    /// The name of the file.
    pub name: String,
    /// The paths.
    pub modules: Vec<String>,
}

impl Modules {
    /// Reads the modules that are needed by these, which are paths in the folder.
    pub fn read(folder: &Path, entries: &[String]) -> Result<Self> {
        let mut modules = BTreeMap::new();
        let mut wanted: Vec<String> = entries.to_vec();
        while let Some(path) = wanted.pop() {
            if modules.contains_key(&path) {
                continue;
            }
            let source = std::fs::read_to_string(folder.join(&path))
                .map_err(|error| Error::Read { path: path.clone(), error })?;
            let module = Reader::new(&path, &source)?.module()?;
            wanted.extend(module.imports.iter().map(|import| import.from.clone()));
            wanted.extend(module.on_demand.iter().cloned());
            modules.insert(path, module);
        }
        Ok(Self { modules })
    }

    /// The modules in a script for each entry, without those of earlier scripts, and in one for all that is on demand.
    pub fn chunks(&self, entries: &[String], later: &str) -> Result<Vec<Chunk>> {
        let mut done = BTreeSet::new();
        let mut chunks = Vec::new();
        for entry in entries {
            let mut modules = Vec::new();
            self.follow(entry, &mut done, &mut Vec::new(), &mut modules)?;
            let name = entry.rsplit('/').next().unwrap_or(entry).to_owned();
            chunks.push(Chunk { name, modules });
        }
        let mut modules = Vec::new();
        for module in self.modules.values() {
            for target in &module.on_demand {
                self.follow(target, &mut done, &mut Vec::new(), &mut modules)?;
            }
        }
        chunks.push(Chunk { name: later.to_owned(), modules });
        Ok(chunks)
    }

    /// Appends a module after those that it imports.
    fn follow(
        &self,
        path: &str,
        done: &mut BTreeSet<String>,
        way: &mut Vec<String>,
        order: &mut Vec<String>,
    ) -> Result<()> {
        if way.iter().any(|above| above == path) {
            return Err(Error::Circle(path.to_owned()));
        }
        if done.contains(path) {
            return Ok(());
        }
        way.push(path.to_owned());
        for import in self.modules.get(path).iter().flat_map(|module| &module.imports) {
            self.follow(&import.from, done, way, order)?;
        }
        way.pop();
        done.insert(path.to_owned());
        order.push(path.to_owned());
        Ok(())
    }

    /// The scripts as text.
    pub fn write(&self, chunks: &[Chunk]) -> Vec<String> {
        let paths = chunks.iter().enumerate().flat_map(|(chunk, Chunk { modules, .. })| {
            modules.iter().map(move |path| (path.as_str(), chunk))
        });
        let places: BTreeMap<&str, Place> =
            paths.enumerate().map(|(number, (path, chunk))| (path, Place { number, chunk })).collect();
        // The modules of each script that others use.
        let mut shared = vec![BTreeSet::new(); chunks.len()];
        let mut texts = Vec::new();
        for (index, chunk) in chunks.iter().enumerate() {
            let mut script = Script { chunk: index, chunks, places: &places, foreign: BTreeSet::new() };
            let code: String = chunk
                .modules
                .iter()
                .filter_map(|path| Some(script.module(*places.get(path.as_str())?, self.modules.get(path)?)))
                .collect();
            texts.push((script.loaders() + &code, script.foreign));
        }
        for (_, foreign) in &texts {
            for place in foreign {
                if let Some(shared) = shared.get_mut(place.chunk) {
                    shared.insert(*place);
                }
            }
        }
        texts
            .iter()
            .zip(&shared)
            .enumerate()
            .map(|(index, ((code, foreign), shared))| {
                let mut text = String::new();
                for (other, chunk) in chunks.iter().enumerate().take(index) {
                    let names = listed(foreign.iter().filter(|place| place.chunk == other));
                    if !names.is_empty() {
                        let _ = write!(text, "import{{{names}}}from\"./{}\";", chunk.name);
                    }
                }
                text.push_str(code);
                if !shared.is_empty() {
                    let _ = write!(text, "export{{{}}};", listed(shared));
                }
                text
            })
            .collect()
    }
}

/// The place of a module: its number, which is its name, and its script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: usize,
    chunk: usize,
}

impl Place {
    fn name(self) -> String {
        format!("{PREFIX}{}", self.number)
    }
}

fn listed<'a>(places: impl IntoIterator<Item = &'a Place>) -> String {
    places.into_iter().map(|place| place.name()).collect::<Vec<_>>().join(",")
}

struct Script<'a> {
    chunk: usize,
    chunks: &'a [Chunk],
    places: &'a BTreeMap<&'a str, Place>,
    /// Modules of other scripts that this one uses.
    foreign: BTreeSet<Place>,
}

impl Script<'_> {
    /// The name of a module that has run before.
    fn name(&mut self, path: &str) -> String {
        let Some(place) = self.places.get(path) else { return String::new() };
        if place.chunk != self.chunk {
            self.foreign.insert(*place);
        }
        place.name()
    }

    /// One module as a function that returns its exports.
    fn module(&mut self, place: Place, module: &Module) -> String {
        let mut bindings = Vec::new();
        let mut returned = Vec::new();
        for import in &module.imports {
            let name = self.name(&import.from);
            match (&import.names, import.is_exported) {
                (Names::None, _) => {}
                (Names::All(None), _) => returned.push(format!("...{name}")),
                (Names::All(Some(here)), false) => bindings.push(format!("{here}={name}")),
                (Names::All(Some(here)), true) => returned.push(format!("{here}:{name}")),
                (Names::Some(names), false) => {
                    let names: Vec<_> = names.iter().map(|(there, here)| pair(there, here)).collect();
                    bindings.push(format!("{{{}}}={name}", names.join(",")));
                }
                (Names::Some(names), true) => {
                    returned.extend(names.iter().map(|(there, here)| format!("{here}:{name}.{there}")));
                }
            }
        }
        returned.extend(module.exports.iter().map(|(here, other)| pair(other, here)));
        let mut text = format!("const {}=(()=>{{", place.name());
        if !bindings.is_empty() {
            let space = if bindings.first().is_some_and(|first| first.starts_with('{')) { "" } else { " " };
            let _ = write!(text, "const{space}{};", bindings.join(","));
        }
        for (index, part) in module.code.split(ON_DEMAND).enumerate() {
            text.push_str(&if index % 2 == 0 { part.to_owned() } else { self.on_demand(part) });
        }
        let end = if text.ends_with([';', '{']) { "" } else { "\n" };
        let _ = write!(text, "{end}return{{{}}}}})();", returned.join(","));
        text
    }

    /// A promise of the exports of a module.
    fn on_demand(&mut self, path: &str) -> String {
        match self.places.get(path).copied() {
            Some(place) if place.chunk > self.chunk => {
                self.foreign.insert(place);
                format!("{}().then(({PREFIX})=>{PREFIX}.{})", self.loader(place.chunk), place.name())
            }
            _ => format!("Promise.resolve().then(()=>{})", self.name(path)),
        }
    }

    /// The name of the function that loads another script. The numbers of modules are smaller.
    fn loader(&self, chunk: usize) -> String {
        format!("{PREFIX}{}", self.places.len() + chunk)
    }

    /// The functions that load other scripts. Browsers do not ask again for a script that could not be loaded, so
    /// each further attempt has another URL.
    fn loaders(&self) -> String {
        let mut text = String::new();
        let later: BTreeSet<usize> =
            self.foreign.iter().map(|place| place.chunk).filter(|chunk| *chunk > self.chunk).collect();
        for chunk in later {
            let Some(Chunk { name, .. }) = self.chunks.get(chunk) else { continue };
            let _ = write!(
                text,
                "const {}=((tries,loading)=>()=>loading??=import(\"./{name}\"+(tries?\"?\"+tries:\"\"))\
                 .catch((error)=>{{tries+=1;loading=null;throw error}}))(0);",
                self.loader(chunk)
            );
        }
        text
    }
}

/// A member of an object, or of a pattern for one: the same names differ in what is bound.
fn pair(member: &str, bound: &str) -> String {
    if member == bound { member.to_owned() } else { format!("{member}:{bound}") }
}

struct Reader<'a> {
    path: &'a str,
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    module: Module,
}

impl<'a> Reader<'a> {
    fn new(path: &'a str, source: &'a str) -> Result<Self> {
        Ok(Self { path, source, tokens: tokens(path, source)?, at: 0, module: Module::default() })
    }

    fn module(mut self) -> Result<Module> {
        let mut code = Writer::default();
        while let Some(token) = self.peek(0).copied() {
            let is_member = self.at > 0 && self.tokens.get(self.at - 1).is_some_and(|before| before.is("."));
            let is_name = is_member || self.peek(1).is_some_and(|next| next.is(":"));
            let begins = token.depth == 0 && !is_name;
            if token.is("import") && !is_name && self.peek(1).is_some_and(|next| next.is("(")) {
                let target = self.on_demand()?;
                code.expression(&format!("{ON_DEMAND}{target}{ON_DEMAND}"));
                self.module.on_demand.push(target);
            } else if token.is("import") && begins {
                self.at += 1;
                code.end_statement();
                self.import()?;
            } else if token.is("export") && begins {
                self.at += 1;
                code.end_statement();
                self.export()?;
            } else {
                let is_meta = token.is("import") && self.peek(1).is_some_and(|next| next.is("."));
                let is_reserved = token.kind == Kind::Word
                    && token
                        .text
                        .strip_prefix(PREFIX)
                        .is_some_and(|rest| rest.chars().all(|digit| digit.is_ascii_digit()));
                if (is_meta && !is_name) || is_reserved || token.text.contains(ON_DEMAND) {
                    return Err(self.refuse("this cannot be joined"));
                }
                code.token(&token);
                self.at += 1;
            }
        }
        self.module.code = code.text;
        Ok(self.module)
    }

    fn peek(&self, ahead: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + ahead)
    }

    fn refuse(&self, reason: &'static str) -> Error {
        error_at(self.path, self.source, self.peek(0).map_or(self.source.len(), |token| token.at), reason)
    }

    /// Takes this token, if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.peek(0).is_some_and(|token| token.is(text));
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, text: &str, reason: &'static str) -> Result<()> {
        if self.take(text) { Ok(()) } else { Err(self.refuse(reason)) }
    }

    fn word(&mut self) -> Result<String> {
        let word = self.peek(0).filter(|token| token.kind == Kind::Word).map(|token| token.text.to_owned());
        let word = word.ok_or_else(|| self.refuse("only named imports and exports can be joined"))?;
        self.at += 1;
        Ok(word)
    }

    /// The path of the module that a string names.
    fn target(&mut self) -> Result<String> {
        let text = self.peek(0).filter(|token| token.kind == Kind::Text).map(|token| token.text);
        let name = text.map(|text| text.trim_matches(['"', '\''])).filter(|name| name.starts_with('.'));
        let name =
            name.ok_or_else(|| self.refuse("only files of this page can be imported, by their names"))?;
        self.at += 1;
        let mut parts: Vec<&str> = self.path.split('/').collect();
        parts.pop();
        for part in name.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    /// `import("./x.js")`.
    fn on_demand(&mut self) -> Result<String> {
        self.at += 2;
        let target = self.target()?;
        self.expect(")", "only files of this page can be imported, by their names")?;
        Ok(target)
    }

    /// `{ a, b as c }`: pairs of both names.
    fn names(&mut self) -> Result<Vec<(String, String)>> {
        let mut names = Vec::new();
        while !self.take("}") {
            let first = self.word()?;
            let second = if self.take("as") { self.word()? } else { first.clone() };
            if first == "default" || second == "default" {
                return Err(self.refuse("only named imports and exports can be joined"));
            }
            names.push((first, second));
            if !self.peek(0).is_some_and(|token| token.is("}")) {
                self.expect(",", "a comma is missing")?;
            }
        }
        Ok(names)
    }

    /// After `import`.
    fn import(&mut self) -> Result<()> {
        let names = if self.peek(0).is_some_and(|token| token.kind == Kind::Text) {
            Names::None
        } else if self.take("*") {
            self.expect("as", "a name is missing")?;
            Names::All(Some(self.word()?))
        } else {
            self.expect("{", "only named imports and exports can be joined")?;
            Names::Some(self.names()?)
        };
        if !matches!(names, Names::None) {
            self.expect("from", "a module is missing")?;
        }
        self.end_of_import(names, false)
    }

    fn end_of_import(&mut self, names: Names, is_exported: bool) -> Result<()> {
        let from = self.target()?;
        self.expect(";", "only files of this page can be imported, by their names")?;
        self.module.imports.push(Import { from, names, is_exported });
        Ok(())
    }

    /// After `export`. What is declared there stays.
    fn export(&mut self) -> Result<()> {
        if self.take("*") {
            let name = if self.take("as") { Some(self.word()?) } else { None };
            self.expect("from", "a module is missing")?;
            return self.end_of_import(Names::All(name), true);
        }
        if self.take("{") {
            let names = self.names()?;
            if self.take("from") {
                return self.end_of_import(Names::Some(names), true);
            }
            self.module.exports.extend(names);
            return self.expect(";", "a semicolon is missing");
        }
        let is_constant = self.peek(0).is_some_and(|token| token.is("const"));
        let mut ahead = usize::from(self.peek(0).is_some_and(|token| token.is("async")));
        let is_declared = self
            .peek(ahead)
            .is_some_and(|token| ["const", "function", "class"].iter().any(|kind| token.is(kind)));
        ahead += 1 + usize::from(self.peek(ahead + 1).is_some_and(|token| token.is("*")));
        let name = self
            .peek(ahead)
            .filter(|name| is_declared && name.kind == Kind::Word)
            .map(|name| name.text.to_owned());
        let name = name.ok_or_else(|| {
            self.refuse("only constants, functions and classes can be exported, by their names")
        })?;
        let mut constant =
            self.tokens.iter().skip(self.at).take_while(|token| token.depth > 0 || !token.is(";"));
        if is_constant && constant.any(|token| token.depth == 0 && token.is(",")) {
            return Err(self.refuse("each exported constant needs a statement of its own, with a semicolon"));
        }
        self.module.exports.push((name.clone(), name));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scripts of a page with these modules, which starts with `a.js`.
    fn join(files: &[(&str, &str)]) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (path, source) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, source).unwrap();
        }
        let entries: Vec<String> = files
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .filter(|path| path.starts_with("js/a"))
            .collect();
        let modules = Modules::read(folder.path(), &entries)?;
        let chunks = modules.chunks(&entries, "later.js")?;
        Ok(modules.write(&chunks))
    }

    fn joined(files: &[(&str, &str)]) -> String {
        join(files).unwrap().remove(0)
    }

    fn refusal(source: &str) -> String {
        join(&[("js/a.js", source)]).unwrap_err().to_string()
    }

    #[test]
    fn a_module_runs_once_after_those_that_it_imports() {
        let script = joined(&[
            ("js/a.js", "import { c } from \"./lib/c.js\";\nimport * as b from './b.js';\nb.b(c);\n"),
            (
                "js/b.js",
                "import \"./lib/c.js\";\nimport { c as d } from \"./lib/c.js\";\nexport async function b() { return d; }\n",
            ),
            (
                "js/lib/c.js",
                "export const c = (1, [2, 3]);\nclass E {}\nexport { E as F };\nexport function* g() {}\nexport class H {}\n",
            ),
        ]);
        let lines: Vec<_> = script.lines().collect();
        assert_eq!(
            lines,
            [
                "const $0=(()=>{const c=(1,[2,3]);class E{}",
                "function*g(){}",
                "class H{}",
                "return{c,F:E,g,H}})();const $1=(()=>{const{c:d}=$0;async function b(){return d;}",
                "return{b}})();const $2=(()=>{const{c}=$0,b=$1;b.b(c);return{}})();",
            ]
        );
    }

    #[test]
    fn names_are_exported_again() {
        let script = joined(&[
            (
                "js/a.js",
                "export { b as c } from \"./b.js\";\nexport * from \"./b.js\";\nexport * as d from \"./b.js\";\n",
            ),
            ("js/b.js", "export const b = 1;"),
        ]);
        assert!(script.ends_with("const $1=(()=>{return{c:$0.b,...$0,d:$0}})();"), "{script}");
    }

    #[test]
    fn modules_on_demand_share_a_script_that_imports_from_the_others() {
        let scripts = join(&[
            ("js/a.js", "import { b } from \"./b.js\";\nb(async () => (await import(\"./d.js\")).d, () => import('./b.js'));"),
            ("js/a2.js", "import { b } from \"./b.js\";\nb(async () => await import(\"./c.js\"));\nx.import(1);"),
            ("js/b.js", "export const b = console.log;"),
            ("js/c.js", "import { b } from \"./b.js\";\nexport const c = b;"),
            ("js/d.js", "import { c } from \"./c.js\";\nexport const d = () => import(\"./c.js\");"),
        ])
        .unwrap();
        let loader = "const $7=((tries,loading)=>()=>loading??=import(\"./later.js\"+(tries?\"?\"+tries:\"\"))\
                      .catch((error)=>{tries+=1;loading=null;throw error}))(0);";
        let expected = [
            format!(
                "{loader}const $0=(()=>{{const b=console.log;return{{b}}}})();\
                 const $1=(()=>{{const{{b}}=$0;b(async()=>(await $7().then(($)=>$.$4)).d,()=>Promise.resolve().then(()=>$0));return{{}}}})();\
                 export{{$0}};"
            ),
            format!(
                "import{{$0}}from\"./a.js\";{loader}\
                 const $2=(()=>{{const{{b}}=$0;b(async()=>await $7().then(($)=>$.$3));x.import(1);return{{}}}})();"
            ),
            "import{$0}from\"./a.js\";\
             const $3=(()=>{const{b}=$0;const c=b;return{c}})();\
             const $4=(()=>{const{c}=$3;const d=()=>Promise.resolve().then(()=>$3);return{d}})();\
             export{$3,$4};"
                .to_owned(),
        ];
        assert_eq!(scripts, expected);
    }

    #[test]
    fn constructs_that_would_change_their_meaning_are_errors() {
        for (source, error) in [
            (
                "export default 1;",
                "js/a.js:1: only constants, functions and classes can be exported, by their names",
            ),
            (
                "\nexport let a = 1;",
                "js/a.js:2: only constants, functions and classes can be exported, by their names",
            ),
            (
                "export const a = 1, b = 2;",
                "js/a.js:1: each exported constant needs a statement of its own, with a semicolon",
            ),
            (
                "export const { a } = b;",
                "js/a.js:1: only constants, functions and classes can be exported, by their names",
            ),
            ("import a from \"./b.js\";", "js/a.js:1: only named imports and exports can be joined"),
            (
                "import { default as a } from \"./b.js\";",
                "js/a.js:1: only named imports and exports can be joined",
            ),
            (
                "import { a } from \"lit\";",
                "js/a.js:1: only files of this page can be imported, by their names",
            ),
            (
                "import { a } from \"./b.json\" with { type: \"json\" };",
                "js/a.js:1: only files of this page can be imported, by their names",
            ),
            ("import(`./${a}.js`);", "js/a.js:1: only files of this page can be imported, by their names"),
            ("import(\"./a.js\" + b);", "js/a.js:1: only files of this page can be imported, by their names"),
            ("f(import.meta.url);", "js/a.js:1: this cannot be joined"),
            ("const $1 = 2;", "js/a.js:1: this cannot be joined"),
            ("import { a } from \"./b.js\";", "js/b.js: No such file or directory (os error 2)"),
        ] {
            assert_eq!(refusal(source), error, "{source}");
        }
        let circle = join(&[("js/a.js", "import \"./b.js\";"), ("js/b.js", "import \"./a.js\";")]);
        assert_eq!(circle.unwrap_err().to_string(), "js/a.js imports itself through other modules");
    }
}
