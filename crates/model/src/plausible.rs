//! What no run can contain, whoever wrote its document: refused when it is read, before anything is computed from it.

use crate::{Error, Estimate, EstimateMethod, Figure, Outcome, Run};

const BELOW_ZERO: &str = "is below 0";

impl Estimate {
    /// Why no measurement can have given this estimate, as a clause about it.
    fn fault(&self) -> Option<&'static str> {
        if ![self.value, self.low, self.high, self.level].iter().all(|number| number.is_finite()) {
            return Some("is not finite");
        }
        if self.low > self.value || self.value > self.high {
            return Some("is outside its interval");
        }
        if !(0.0..=1.0).contains(&self.level) {
            return Some("has a level that is not between 0 and 1");
        }
        // Of a difference and of a fit the lower end may lie below 0, where what it is about cannot.
        let observed = matches!(self.method, EstimateMethod::OrderStatistic | EstimateMethod::WidenedExtremes);
        (self.value < 0.0 || (observed && self.low < 0.0)).then_some(BELOW_ZERO)
    }
}

impl Figure {
    /// Which of its numbers nothing can have, and why: "the value is below 0".
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        of_outcome(self).or_else(|| of_figure(self)).map(|(what, fault)| format!("{what} {fault}"))
    }
}

/// Refuses a run with numbers that nothing can have (times, rates and counts below 0, shares beyond the whole, values
/// outside their intervals), or with a figure twice.
pub(crate) fn check(run: &Run) -> Result<(), Error> {
    let refuse = |what: String| Error::Invalid(format!("{what}; correct it, or export the run again"));
    let mut seen = std::collections::HashSet::new();
    if let Some((what, fault)) = of_session(run) {
        return Err(refuse(format!("{what} {fault}")));
    }
    for figure in &run.figures {
        let key = figure.key();
        if let Some((what, fault)) = of_outcome(figure).or_else(|| of_figure(figure)) {
            return Err(refuse(format!("{what} of {key} {fault}")));
        }
        if !seen.insert(key.clone()) {
            return Err(refuse(format!("{key} occurs twice")));
        }
    }
    Ok(())
}

/// What is wrong: its name, and a clause about it.
type NumberFault = (&'static str, &'static str);

/// The first number that is below 0 or not finite.
fn below_zero(numbers: &[(&'static str, f64)]) -> Option<NumberFault> {
    numbers.iter().find_map(|&(what, number)| match number {
        _ if !number.is_finite() => Some((what, "is not finite")),
        _ => (number < 0.0).then_some((what, BELOW_ZERO)),
    })
}

fn of_session(run: &Run) -> Option<NumberFault> {
    let (session, plan) = (&run.session, &run.plan);
    let clock = session.references.as_ref().and_then(|references| references.clock);
    below_zero(&[
        ("the duration of the run", session.seconds),
        ("the target of the plan", plan.target),
        ("the band of the plan", plan.band),
        ("the spacing of the plan", plan.spacing),
        ("the time limit of the plan", plan.time_limit.unwrap_or(0.0)),
        ("the load of the machine", session.conditions.load.unwrap_or(0.0)),
    ])
    .or_else(|| (!(0.0..=1.0).contains(&plan.level)).then_some(("the level of the plan", "is not between 0 and 1")))
    .or_else(|| (clock.is_some_and(|clock| !is_positive(clock))).then_some(("the clock of the run", "is not above 0")))
}

fn of_outcome(figure: &Figure) -> Option<NumberFault> {
    match &figure.outcome {
        Outcome::Measured(estimate) => estimate.fault().map(|fault| ("the value", fault)),
        Outcome::Below { bound } => below_zero(&[("the bound", *bound)]),
        Outcome::Modes(modes) => modes.iter().find_map(|mode| {
            let share = (0.0..=1.0).contains(&mode.share);
            let of_share = (!share).then_some(("the share of a mode", "is not between 0 and 1"));
            of_share.or_else(|| mode.estimate.fault().map(|fault| ("a mode", fault)))
        }),
        Outcome::Unfit(_) | Outcome::Failed(_) => None,
    }
}

/// What a figure has beside its outcome.
fn of_figure(figure: &Figure) -> Option<NumberFault> {
    let clock = figure.references.as_ref().and_then(|references| references.clock);
    let positive = [("the amount of an operation", figure.amount), ("the clock", clock.unwrap_or(1.0))];
    if let Some((what, _)) = positive.into_iter().find(|(_, number)| !is_positive(*number)) {
        return Some((what, "is not above 0"));
    }
    let of_quantile = figure.quantiles.iter().find_map(|found| {
        let quantile = (0.0..=1.0).contains(&found.quantile);
        let outside = (!quantile).then_some(("a quantile", "is not between 0 and 1"));
        outside.or_else(|| found.estimate.fault().map(|fault| ("a quantile", fault)))
    });
    of_quantile
        .or_else(|| {
            below_zero(&[
                ("the resolution", figure.resolution.unwrap_or(0.0)),
                ("the rounding", figure.rounding.unwrap_or(0.0)),
            ])
        })
        .or_else(|| of_launches(figure))
}

/// The value of a launch is a difference in some figures; in those whose estimate is one of observed values, it is not.
fn of_launches(figure: &Figure) -> Option<NumberFault> {
    let observed = figure.outcome.estimate().is_some_and(|estimate| {
        matches!(estimate.method, EstimateMethod::OrderStatistic | EstimateMethod::WidenedExtremes)
    });
    figure.launches.iter().find_map(|launch| {
        let value = if observed { launch.value } else { 0.0 };
        let readings = launch.readings.iter().map(|reading| ("a reading of a launch", *reading));
        let numbers = [("the value of a launch", value), ("the duration of a launch", launch.wall)];
        below_zero(&numbers).or_else(|| readings.filter(|_| observed).find_map(|reading| below_zero(&[reading])))
    })
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

#[cfg(test)]
mod tests {
    use crate::{parse_run, render_run};

    /// The second document that is kept for ever, with one number replaced.
    fn with(pointer: &str, number: &str) -> Result<crate::Run, String> {
        let mut run: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/upgrade/schema-2.json")).unwrap();
        *run.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not in the document")) =
            serde_json::from_str(number).unwrap();
        parse_run(&run.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_nothing_can_have_is_refused_by_name() {
        for (pointer, number, says) in [
            ("/figures/5/outcome/measured/low", "-1e-6", "the value of os.timer_lateness is below 0"),
            ("/figures/0/outcome/measured/level", "1.5", "the value of os.syscall_write has a level"),
            ("/figures/0/outcome/measured/value", "9.0", "the value of os.syscall_write is outside its interval"),
            ("/figures/0/amount", "-1.0", "the amount of an operation of os.syscall_write is not above 0"),
            ("/figures/0/references/clock", "-3e9", "the clock of os.syscall_write is not above 0"),
            ("/figures/1/launches/0/value", "-1e9", "the value of a launch of memory.copy"),
            ("/figures/0/launches/0/wall", "-0.5", "the duration of a launch of os.syscall_write is below 0"),
            ("/session/seconds", "-3", "the duration of the run is below 0"),
            ("/session/references/clock", "0", "the clock of the run is not above 0"),
            ("/plan/level", "95", "the level of the plan is not between 0 and 1"),
            ("/plan/target", "-0.02", "the target of the plan is below 0"),
        ] {
            let said = with(pointer, number).map(drop).unwrap_err();
            assert!(said.starts_with(&format!("could not accept the run document: {says}")), "{pointer}: {said}");
            assert!(said.ends_with("; correct it, or export the run again"), "{said}");
        }
        let below = r#"{"measured":{"value":-1e-6,"low":-2e-6,"high":1e-6,"level":0.95,"launches":9,"batches":9,"method":"propagated"}}"#;
        // What an earlier version derived is no value then, and the rest of its run stays.
        let kept = with("/figures/0/outcome", below).unwrap();
        assert_eq!(kept.figures[0].outcome, crate::Outcome::Unfit(crate::BELOW_NOTHING.to_owned()));
        let seen = below.replace("propagated", "range");
        assert!(with("/figures/0/outcome", &seen).map(drop).unwrap_err().contains("is below 0"));
        let modes = below.replace("{\"measured\":", r#"{"modes":[{"share":0.5,"estimate":"#).replace("}}", "}}]}");
        assert!(
            with("/figures/0/outcome", &modes).map(drop).unwrap_err().contains("a mode of os.syscall_write is below 0")
        );
        assert!(
            with("/figures/0/outcome", r#"{"below":{"bound":-1e-9}}"#).map(drop).unwrap_err().contains("the bound of")
        );
        // The lower end of a fit may be what its value cannot.
        let fit = below.replace("\"value\":-1e-6", "\"value\":1e-7");
        let kept = with("/figures/0/outcome", &fit).unwrap();
        assert_eq!(parse_run(&render_run(&kept).unwrap()).unwrap(), kept);
    }
}
