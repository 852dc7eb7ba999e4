//! FileCheck's options.

/// Why arguments are none of FileCheck, or none that are known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// Two arguments name files.
    #[error("FileCheck has a second file, `{0}`")]
    SecondFile(String),
    /// An option is not known.
    #[error("FileCheck's option `{0}` is not known here")]
    Unknown(String),
    /// `-D` defines what is not known here.
    #[error("FileCheck's `{0}` is not known")]
    Definition(String),
    /// A switch has another value.
    #[error("`{0}` is neither true nor false")]
    NotBoolean(String),
    /// An option lacks its value.
    #[error("`{0}` has no value")]
    NoValue(String),
    /// A prefix has other characters than FileCheck allows.
    #[error("`{0}` is no prefix of directives")]
    NoPrefix(String),
}

/// The options of one FileCheck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The prefixes of directives.
    pub prefixes: Vec<String>,
    /// Whether no prefix was asked for.
    pub has_default_prefix: bool,
    /// Whether a label ends the scope of variables without `$`.
    pub has_variable_scopes: bool,
    /// Whether each blank counts.
    pub strict_whitespace: bool,
    /// Whether a directive must match whole lines.
    pub full_lines: bool,
    /// Whether the output may be empty.
    pub allows_empty: bool,
    /// Whether a prefix may have no directive.
    pub allows_unused_prefixes: bool,
    /// Patterns that must occur nowhere between matches.
    pub excluded: Vec<String>,
    /// Variables that are defined at the start.
    pub defined: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            prefixes: vec!["CHECK".into()],
            has_default_prefix: true,
            has_variable_scopes: false,
            strict_whitespace: false,
            full_lines: false,
            allows_empty: false,
            allows_unused_prefixes: false,
            excluded: Vec::new(),
            defined: Vec::new(),
        }
    }
}

/// Options that change only what FileCheck prints. The first take a value.
const SHOWN: [&str; 4] =
    ["dump-input", "dump-input-filter", "dump-input-context", "dump-input-label"];
const SHOWN_ALONE: [&str; 3] = ["v", "vv", "color"];

impl Options {
    /// Reads the arguments of a FileCheck; the second value is the check file.
    ///
    /// # Errors
    /// [`OptionsError`]: the first argument that is wrong or not known.
    pub fn read(arguments: &[String]) -> Result<(Self, Option<String>), OptionsError> {
        let mut options = Self { prefixes: Vec::new(), ..Self::default() };
        let mut file = None;
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let Some(name) = argument.strip_prefix('-').filter(|name| !name.is_empty()) else {
                if file.replace(argument.clone()).is_some() {
                    return Err(OptionsError::SecondFile(argument.clone()));
                }
                continue;
            };
            if let Some(definition) = name.strip_prefix('D') {
                let variable = definition.split_once('=').filter(|(name, _)| {
                    !name.is_empty()
                        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$".contains(&b))
                });
                let (name, value) =
                    variable.ok_or_else(|| OptionsError::Definition(argument.clone()))?;
                options.defined.push((name.into(), value.into()));
                continue;
            }
            let name = name.strip_prefix('-').unwrap_or(name);
            let (name, given) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let is_on = || match given.as_deref() {
                None | Some("true" | "1") => Ok(true),
                Some("false" | "0") => Ok(false),
                Some(_) => Err(OptionsError::NotBoolean(argument.clone())),
            };
            match name {
                "enable-var-scope" => options.has_variable_scopes = is_on()?,
                "strict-whitespace" => options.strict_whitespace = is_on()?,
                "match-full-lines" => options.full_lines = is_on()?,
                "allow-empty" => options.allows_empty = is_on()?,
                "allow-unused-prefixes" => options.allows_unused_prefixes = is_on()?,
                name if SHOWN_ALONE.contains(&name) => {}
                "check-prefix" | "check-prefixes" | "implicit-check-not" => {
                    let value = given.or_else(|| arguments.next().cloned());
                    let value = value.ok_or_else(|| OptionsError::NoValue(argument.clone()))?;
                    if name == "implicit-check-not" {
                        options.excluded.push(value);
                    } else {
                        options.prefixes.extend(value.split(',').map(str::to_owned));
                    }
                }
                name if SHOWN.contains(&name) => {
                    if given.is_none() {
                        arguments.next();
                    }
                }
                _ => return Err(OptionsError::Unknown(argument.clone())),
            }
        }
        options.has_default_prefix = options.prefixes.is_empty();
        if options.has_default_prefix {
            options.prefixes = Self::default().prefixes;
        }
        let is_prefix = |prefix: &String| {
            prefix.starts_with(|c: char| c.is_ascii_alphabetic())
                && prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        match options.prefixes.iter().find(|prefix| !is_prefix(prefix)) {
            Some(wrong) => Err(OptionsError::NoPrefix(wrong.clone())),
            None => Ok((options, file)),
        }
    }
}
