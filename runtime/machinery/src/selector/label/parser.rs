//! The parser of label selectors; error messages are those of kube-apiserver.

use super::LabelSelectorError;
use super::lexer::{Item, Token, items};
use super::requirement::{Operator, Requirement, check_key};
use crate::field_error::FieldErrors;

pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, LabelSelectorError> {
    let mut parser = Parser {
        items: items(text),
        position: 0,
    };
    let mut requirements = Vec::new();
    loop {
        let item = parser.peek();
        match item.token {
            Token::End => return Ok(requirements),
            Token::Identifier | Token::Not => {
                let requirement = parser.requirement();
                let explain = |error| LabelSelectorError(format!("unable to parse requirement: {error}"));
                requirements.push(requirement.map_err(explain)?);
            }
            _ => {
                return complain(format!(
                    "found '{}', expected: !, identifier, or 'end of string'",
                    item.text
                ));
            }
        }
        let separator = parser.take();
        match separator.token {
            Token::End => return Ok(requirements),
            Token::Comma => {
                let next = parser.peek();
                if !matches!(next.token, Token::Identifier | Token::Not) {
                    return complain(format!("found '{}', expected: identifier after ','", next.text));
                }
            }
            _ => return complain(format!("found '{}', expected: ',' or 'end of string'", separator.text)),
        }
    }
}

struct Parser<'a> {
    items: Vec<Item<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn requirement(&mut self) -> Result<Requirement, LabelSelectorError> {
        let mut item = self.take();
        let negated = item.token == Token::Not;
        if negated {
            item = self.take();
        }
        if item.token != Token::Identifier {
            return complain(format!("found '{}', expected: identifier", item.text));
        }
        let mut errors = FieldErrors::default();
        check_key(item.text, "<nil>", &mut errors);
        if let Some(message) = errors.joined() {
            return complain(message);
        }
        if negated || matches!(self.peek().token, Token::End | Token::Comma) {
            let operator = if negated {
                Operator::DoesNotExist
            } else {
                Operator::Exists
            };
            return Requirement::new(item.text, operator, []);
        }
        let operator = self.operator()?;
        let mut values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.exact_value()?],
        };
        values.sort_unstable();
        values.dedup();
        Requirement::new(item.text, operator, values.into_iter().map(str::to_owned))
    }

    fn operator(&mut self) -> Result<Operator, LabelSelectorError> {
        // The only position where `in` and `notin` are not identifiers.
        let item = self.take_raw();
        Ok(match item.token {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            _ => return complain(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", item.text)),
        })
    }

    /// Parses values in parentheses; a missing value counts as empty.
    fn values(&mut self) -> Result<Vec<&'a str>, LabelSelectorError> {
        let open = self.take();
        if open.token != Token::Open {
            return complain(format!("found '{}' expected: '('", open.text));
        }
        let first = self.peek();
        match first.token {
            Token::Identifier | Token::Comma => {
                let values = self.value_list()?;
                match self.take().token {
                    Token::Close => Ok(values),
                    _ => complain(format!("found '{}', expected: ')'", first.text)),
                }
            }
            Token::Close => {
                self.take();
                Ok(vec![""])
            }
            _ => complain(format!("found '{}', expected: ',', ')' or identifier", first.text)),
        }
    }

    fn value_list(&mut self) -> Result<Vec<&'a str>, LabelSelectorError> {
        let mut values = Vec::new();
        loop {
            let item = self.take();
            match item.token {
                Token::Identifier => {
                    values.push(item.text);
                    let next = self.peek();
                    match next.token {
                        Token::Comma => {}
                        Token::Close => return Ok(values),
                        _ => return complain(format!("found '{}', expected: ',' or ')'", next.text)),
                    }
                }
                Token::Comma => {
                    let next = self.peek().token;
                    if values.is_empty() || matches!(next, Token::Close | Token::Comma) {
                        values.push("");
                    }
                    if next == Token::Close {
                        return Ok(values);
                    }
                }
                _ => return complain(format!("found '{}', expected: ',', or identifier", item.text)),
            }
        }
    }

    fn exact_value(&mut self) -> Result<&'a str, LabelSelectorError> {
        if matches!(self.peek().token, Token::End | Token::Comma) {
            return Ok("");
        }
        let item = self.take();
        match item.token {
            Token::Identifier => Ok(item.text),
            _ => complain(format!("found '{}', expected: identifier", item.text)),
        }
    }

    /// Returns the next item; `in` and `notin` count as identifiers.
    fn peek(&self) -> Item<'a> {
        let item = self.items.get(self.position).copied().unwrap_or(Item {
            token: Token::End,
            text: "",
        });
        match item.token {
            Token::In | Token::NotIn => Item {
                token: Token::Identifier,
                ..item
            },
            _ => item,
        }
    }

    fn take(&mut self) -> Item<'a> {
        let item = self.peek();
        self.position += 1;
        item
    }

    fn take_raw(&mut self) -> Item<'a> {
        let item = self.items.get(self.position).copied();
        self.position += 1;
        item.unwrap_or(Item {
            token: Token::End,
            text: "",
        })
    }
}

fn complain<T>(message: String) -> Result<T, LabelSelectorError> {
    Err(LabelSelectorError(message))
}
