//! Catching a signal.

use sys::signal::{Counted, Signal};

use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.signal_handle",
    title: "signal handling",
    about: "Sends a signal to oneself, whose handler counts it, minus sending signal 0, which only checks: delivery, handler and \
            return.",
    metric: Metric::lower(Unit::Seconds, "signal"),
    class: Class::Compute,
    stresses: &[Primitive::Signal],
    sources: &[
        Source::new("BaBar", "table 4, signal handling", "T. J. Pavel, CHEP 98"),
        Source::new("lmbench", "lat_sig catch", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    paired: true,
    prepare,
    ..Probe::BLANK
};

struct Caught(Rc<Counted>);
struct Sent(Rc<Counted>);

fn prepare(_: &Point, _: &mut Bench) -> Result<Trial, Unfit> {
    let handler = Rc::new(Counted::install(Signal::User1)?);
    Ok(Trial::paired(Caught(Rc::clone(&handler)), Sent(handler)))
}

impl Kernel for Caught {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        let before = self.0.count();
        for _ in 0..ops {
            self.0.send()?;
        }
        Ok(Work { ops, token: self.0.count() - before })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        Fault::unless_equal(done.token, done.ops)
    }
}

impl Kernel for Sent {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        let (before, mut sent) = (self.0.count(), 0);
        for _ in 0..ops {
            self.0.send_nothing()?;
            sent += 1;
        }
        Fault::unless_equal(self.0.count(), before)?;
        Ok(Work { ops, token: sent })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        Fault::unless_equal(done.token, done.ops)
    }
}
