//! What can be wrong with a text of directives.

/// Why a text is no regular expression, or none that is known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// An opening bracket has no closing one.
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    /// A `)` has no `(` before it.
    #[error("a `)` closes nothing")]
    ClosesNothing,
    /// Nothing stands where an expression must.
    #[error("an expression is empty")]
    Empty,
    /// Groups are nested more deeply than is read here.
    #[error("groups are nested too deeply")]
    TooDeep,
    /// A repetition has nothing before it.
    #[error("`{0}` repeats nothing")]
    RepeatsNothing(char),
    /// `^` has a repetition after it.
    #[error("`^` cannot be repeated")]
    LineStartRepeated,
    /// A repetition has another after it.
    #[error("a repetition is repeated")]
    RepeatedTwice,
    /// `{n}` asks for more repetitions than LLVM allows.
    #[error("more than {most} repetitions")]
    TooManyRepetitions {
        /// How many it allows.
        most: u32,
    },
    /// Of `{n,m}` or `[a-b]`, the second end is less than the first.
    #[error("{0} in the wrong order")]
    WrongOrder(&'static str),
    /// A `\` escapes nothing.
    #[error("a `\\` stands at the end")]
    EscapeAtEnd,
    /// `\1` and others repeat what a group matched.
    #[error("`\\{0}` refers back, which is not known")]
    RefersBack(char),
    /// `[=…=]` or `[.….]`.
    #[error("`[=` and `[.` are not known")]
    Collation,
    /// `[:name:]` of a class that does not exist.
    #[error("`[:{0}:]` is no class of characters")]
    NoClass(String),
}

/// What is wrong with the text of a directive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A block is not closed on its line.
    #[error("`{opening}` has no `{closing}` on this line")]
    Unclosed {
        /// What opens it.
        opening: &'static str,
        /// What would close it.
        closing: &'static str,
    },
    /// A regular expression is none.
    #[error("`{text}` is no regular expression: {source}")]
    Regex {
        /// The expression.
        text: String,
        /// Why it is none.
        source: RegexError,
    },
    /// A block begins with no name.
    #[error("`{0}` begins with no name of a variable")]
    BeginsWithNoName(String),
    /// A name is none.
    #[error("`{0}` is no name of a variable")]
    NoName(String),
    /// After the name of a variable stands something else.
    #[error("expected `:` or `]]` after `{0}`")]
    AfterName(String),
    /// A format, an operator or a function that is not known.
    #[error("the {kind} `{name}` is not known")]
    Unknown {
        /// What it is.
        kind: &'static str,
        /// As written.
        name: String,
    },
    /// Nothing is to be equal.
    #[error("`==` is followed by nothing")]
    EqualsNothing,
    /// A number is defined from variables, whose formats may differ.
    #[error("a definition from variables needs a format here")]
    NeedsFormat,
    /// A number does not fit.
    #[error("a number is too large")]
    NumberTooLarge,
    /// Neither a number nor a variable stands in a sum.
    #[error("expected a number or a variable at `{0}`")]
    NoTerm(String),
}

/// What is wrong with a directive, or with all of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    /// Its text cannot be read.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// `-COUNT-` has no number.
    #[error("`-COUNT-` needs a number greater than 0, and a colon")]
    NoCount,
    /// Two suffixes that exclude one another.
    #[error("`-{0}` is no directive")]
    NoSuchDirective(&'static str),
    /// A directive that goes on from another has none before it.
    #[error("`{head}` needs a `{prefix}:` before it")]
    NeedsOneBefore {
        /// The directive.
        head: String,
        /// Its prefix.
        prefix: String,
    },
    /// A prefix that was asked for has no directive.
    #[error("there is no directive `{prefix}:`")]
    Unused {
        /// The prefix.
        prefix: String,
    },
    /// `-EMPTY` has a text.
    #[error("`-EMPTY` has no text")]
    EmptyHasText,
    /// Any other directive has none.
    #[error("this directive has no text")]
    NoText,
    /// A label has variables.
    #[error("a label neither defines nor uses a variable")]
    LabelHasVariable,
    /// A number is used by the directive that defines it.
    #[error("`{0}` is defined by this same directive")]
    DefinedHere(String),
}

/// Why a pattern cannot be searched for with the values that variables have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("`{0}` is not defined here")]
    Undefined(String),
    #[error("the format of `{0}` conflicts with another's")]
    FormatConflict(String),
    #[error("a number is too large")]
    TooLarge,
    #[error("{0} has no unsigned form")]
    NotUnsigned(i128),
}
