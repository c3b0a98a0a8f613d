//! The routes, handlers, events and parts of the state of `POST /register` that a file of the source declares.

use super::super::source::{SourceFile, is_for_tests};
use super::{Api, EventForm, Handler, SourceRoute, StateField, docs_of, text_of};
use std::collections::BTreeMap;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// Adds the declarations of a file.
pub fn read(file: &SourceFile, parsed: &syn::File, api: &mut Api) {
    Items::new(file, api).visit_file(parsed);
}

struct Items<'a> {
    file: &'a SourceFile,
    api: &'a mut Api,
    /// Documentation of the function that is being read.
    docs: String,
    /// The event whose implementation is being read.
    event: Option<String>,
    /// The parameters of the function that is being read.
    inputs: BTreeMap<String, syn::Type>,
}

impl<'a> Items<'a> {
    fn new(file: &'a SourceFile, api: &'a mut Api) -> Self {
        Self { file, api, docs: String::new(), event: None, inputs: BTreeMap::new() }
    }

    fn read_function(&mut self, docs: &[syn::Attribute], signature: &syn::Signature) {
        self.docs = docs_of(docs);
        self.inputs = BTreeMap::new();
        for input in &signature.inputs {
            if let syn::FnArg::Typed(input) = input
                && let syn::Pat::Ident(name) = &*input.pat
            {
                self.inputs.insert(name.ident.to_string(), (*input.ty).clone());
            }
        }
    }

    /// The type of a reference to a struct literal, to `self` or to a parameter of the function.
    fn type_of(&self, expression: &syn::Expr) -> syn::Type {
        match expression {
            syn::Expr::Reference(reference) => self.type_of(&reference.expr),
            syn::Expr::Struct(literal) => match literal.path.get_ident() {
                Some(name) if name == "Self" => self.own_type(),
                _ => syn::Type::Path(syn::TypePath {
                    attrs: Vec::new(),
                    qself: None,
                    path: literal.path.clone(),
                }),
            },
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                // Other variables hold the event itself with some members changed.
                self.inputs.get(&name).cloned().unwrap_or_else(|| self.own_type())
            }
            syn::Expr::Call(call) => {
                let names = names_of(&call.func);
                syn::parse_str(&names[0]).unwrap()
            }
            _ => panic!("{}: an event is written from a struct", self.file.path),
        }
    }

    fn own_type(&self) -> syn::Type {
        syn::parse_str(self.event.as_deref().expect("inside of an event")).unwrap()
    }

    /// `Form::of(&event)`, `Form::with_members::<Event>(&members)` and `Form::with_op::<Event>("op", &members)`.
    fn read_form(&mut self, call: &syn::ExprCall, names: &[String]) {
        let syn::Expr::Path(path) = &*call.func else { return };
        let Some(segment) = path.path.segments.last() else { return };
        let arguments = match &segment.arguments {
            syn::PathArguments::AngleBracketed(list) => turbofish(Some(list)),
            _ => None,
        };
        let members = self.type_of(&call.args[call.args.len() - 1]);
        let event = match arguments.as_ref().map_or_else(|| text_of(&members).0, |kind| text_of(kind).0) {
            name if name == "Self" => self.event.clone().unwrap(),
            name => name,
        };
        let op = if names[1] == "with_op" { text_literal(call.args.first()) } else { None };
        self.api.forms.push(EventForm { module: self.file.module_path(), event, op, members });
    }
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let mut params = Vec::new();
        for input in &function.sig.inputs {
            let syn::FnArg::Typed(input) = input else { continue };
            let name = text_of(&input.ty).0;
            if name == "Params2" || name.ends_with("Params") {
                params.push((*input.ty).clone());
            }
        }
        self.read_function(&function.attrs, &function.sig);
        let (module, docs) = (self.file.module_path(), self.docs.clone());
        let handler = Handler { module, docs, params, reply: reply_in(&function.sig.output) };
        self.api.handlers.entry(function.sig.ident.to_string()).or_default().push(handler);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.read_function(&function.attrs, &function.sig);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_event = item.trait_.as_ref().is_some_and(|(path, _)| path.is_ident("Event"));
        let name = text_of(&item.self_ty).0;
        if is_event {
            let constant = |wanted: &str| {
                item.items.iter().find_map(|item| match item {
                    syn::ImplItem::Const(constant) if constant.ident == wanted => Some(&constant.expr),
                    _ => None,
                })
            };
            let kind = text_literal(constant("TYPE")).expect("an event has a type");
            let op = match constant("OP") {
                Some(syn::Expr::Call(call)) => text_literal(call.args.first()),
                _ => None,
            };
            self.api.events.insert(name.clone(), (kind, op));
            self.event = Some(name);
        }
        visit::visit_item_impl(self, item);
        self.event = None;
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.visit_macro(&item.mac);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        let list = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if invocation.path.is_ident("vec")
            && let Ok(list) = invocation.parse_body_with(list)
        {
            for expression in list {
                Items::new(self.file, self.api).visit_expr(&expression);
            }
        }
        if invocation.path.is_ident("uniform_event") {
            let mut tokens = invocation.tokens.clone().into_iter().map(|token| token.to_string());
            let name = tokens.next().unwrap_or_default();
            let text = |token: Option<String>| token.unwrap_or_default().trim_matches('"').to_owned();
            tokens.next();
            let kind = text(tokens.next());
            tokens.next();
            let op = (tokens.next().as_deref() == Some("op")).then(|| text(tokens.next()));
            let members: syn::Type = syn::parse_str(&name).unwrap();
            let module = self.file.module_path();
            self.api.events.insert(name.clone(), (kind, op));
            self.api.forms.push(EventForm { module, event: name, op: None, members });
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let receiver = names_of(&call.receiver);
        let first = text_literal(call.args.first());
        let (module, docs) = (self.file.module_path(), self.docs.clone());
        match (receiver.last().map(String::as_str), call.method.to_string().as_str()) {
            (Some("state"), "set") => {
                let kind = turbofish(call.turbofish.as_ref());
                let kind = kind.unwrap_or_else(|| panic!("{module}: `state.set` names a type"));
                self.api.state.push(StateField { module, name: first, docs, kind });
            }
            (Some("state"), "add") => {
                let kind = turbofish(call.turbofish.as_ref());
                let kind = kind.unwrap_or_else(|| self.type_of(&call.args[0]));
                self.api.state.push(StateField { module, name: None, docs, kind });
            }
            (Some("members"), "add") if self.event.is_some() => {
                let kind = self.type_of(&call.args[0]);
                self.api.personal.insert(self.event.clone().unwrap(), kind);
            }
            (_, "with") => {
                let root = root_of(&call.receiver);
                let is_error = root
                    .first()
                    .is_some_and(|name| ["ApiError", "Self", "error", "response"].contains(&name.as_str()));
                if let Some(name) =
                    first.filter(|_| is_error && self.file.path != "domain/channels/events.rs")
                {
                    self.api.error_members.insert(name);
                }
            }
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let names = names_of(&call.func);
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["Route", "read" | "write" | "call" | "upload"] if call.args.len() == 4 => {
                let path = text_literal(call.args.get(1)).unwrap_or_else(|| {
                    let name = names_of(&call.args[1]).pop().unwrap_or_default();
                    self.api.constants.get(&name).cloned().unwrap_or_default()
                });
                self.api.routes.push(SourceRoute {
                    resource: self.file.resource().unwrap_or_default().to_owned(),
                    module: self.file.module_path(),
                    method: names_of(&call.args[0]).pop().unwrap_or_default(),
                    path,
                    handler: names_of(&call.args[3]),
                });
            }
            ["Form", "of" | "with_members" | "with_op"] if self.event.is_some() => {
                self.read_form(call, &names);
            }
            _ => {}
        }
        visit::visit_expr_call(self, call);
    }
}

/// The names of a path; of a closure, those of the function that it calls.
fn names_of(expression: &syn::Expr) -> Vec<String> {
    match expression {
        syn::Expr::Path(path) => path.path.segments.iter().map(|segment| segment.ident.to_string()).collect(),
        syn::Expr::Closure(closure) => match &*closure.body {
            syn::Expr::Call(call) => names_of(&call.func),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The type argument of the first `Reply` in a type, unless it is the default.
fn reply_in(output: &syn::ReturnType) -> Option<syn::Type> {
    #[derive(Default)]
    struct Finder(Option<syn::Type>);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
            if segment.ident == "Reply"
                && let syn::PathArguments::AngleBracketed(list) = &segment.arguments
                && let Some(syn::GenericArgument::Type(kind)) = list.args.first()
            {
                self.0 = Some(kind.clone());
            }
            visit::visit_path_segment(self, segment);
        }
    }
    let mut finder = Finder::default();
    finder.visit_return_type(output);
    finder.0
}

/// The type argument that a call names: `set::<Vec<Draft>>(..)`.
fn turbofish(arguments: Option<&syn::AngleBracketedGenericArguments>) -> Option<syn::Type> {
    match arguments?.args.first()? {
        syn::GenericArgument::Type(kind) => Some(kind.clone()),
        _ => None,
    }
}

fn text_literal(expression: Option<&syn::Expr>) -> Option<String> {
    match expression? {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The path at which a chain of calls begins: `ApiError::new` in `ApiError::new(..).with(..)`.
fn root_of(expression: &syn::Expr) -> Vec<String> {
    match expression {
        syn::Expr::MethodCall(call) => root_of(&call.receiver),
        syn::Expr::Call(call) => names_of(&call.func),
        other => names_of(other),
    }
}
