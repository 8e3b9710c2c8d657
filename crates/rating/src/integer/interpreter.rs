//! An embedded interpreter runs a script: a sieve, strings, maps and recursion.

use rhai::{AST, Engine};

use crate::input::Checksum;
use crate::work::RatingWork;

const SCRIPT: &str = r#"
fn fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
let total = fib(19);
let size = 30000;
let sieve = [];
sieve.pad(size, true);
for i in 2..size {
    if sieve[i] {
        total += i;
        let j = i * 2;
        while j < size { sieve[j] = false; j += i; }
    }
}
let counts = #{};
for i in 0..20000 {
    let key = "k" + (i * 7919 % 97);
    if key in counts { counts[key] += i; } else { counts[key] = i; }
}
for key in counts.keys() { total += counts[key] % 1009; }
total
"#;

pub(crate) struct Interpreter {
    engine: Engine,
    script: Result<AST, String>,
}

impl Interpreter {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut engine = Engine::new();
        // The library's own limits differ between builds for development and for use.
        engine.set_max_call_levels(64).set_max_expr_depths(64, 32);
        let script = engine.compile(SCRIPT).map_err(|error| error.to_string());
        Box::new(Self { engine, script })
    }
}

impl RatingWork for Interpreter {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        let script = self.script.as_ref().map_err(Clone::clone)?;
        for _ in 0..4 {
            let total: i64 = self.engine.eval_ast(script).map_err(|error| error.to_string())?;
            sum.word(total as u64);
        }
        Ok(sum.value())
    }
}
