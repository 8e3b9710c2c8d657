//! A node of an event builder: it hears one message a line and says one a line, whoever started it and wherever.

use std::io::{BufRead, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{PoisonError, mpsc};

use super::control::{Control, next};
use super::message::{BuildReply, BuildRequest, NodeCounters, NodeRole, Transport, hear};
use super::{assemble, count, pull, sender};
use crate::agent::Duty;
use crate::line::send;
use crate::path::pin;
use crate::{Error, Result};

/// Being a node of an event builder.
pub const DUTY: Duty = Duty { name: "build", work: serve };

/// Serves one job. Returns when it is done, the driver is gone, or it was told to die.
///
/// # Errors
/// When the driver is gone or says what cannot be understood.
fn serve(input: Box<dyn BufRead + Send>, output: &mut (dyn Write + Send)) -> Result<()> {
    let control = Control::default();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        let (mut input, control) = (input, &control);
        let listen = move || {
            // The end of input is the end of the driver, and of the job.
            while let Ok(Some(message)) = hear::<BuildRequest>(&mut input) {
                match message {
                    BuildRequest::Take { events } => {
                        control.more.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
                    }
                    BuildRequest::Die => {
                        control.die.store(true, Relaxed);
                        break;
                    }
                    BuildRequest::Stop => break,
                    other => {
                        if tell.send(other).is_err() {
                            break;
                        }
                    }
                }
            }
            control.stop.store(true, Relaxed);
        };
        std::thread::Builder::new().spawn_scoped(scope, listen).map_err(Error::io("start a thread"))?;
        let worked = work(&told, control, output);
        control.stop.store(true, Relaxed);
        match worked {
            Ok(counters) if !control.die.load(Relaxed) => send(output, &BuildReply::Done(counters)),
            Ok(_) => Ok(()),
            Err(error) => send(output, &BuildReply::Failed { reason: error.to_string() }),
        }
    })
}

fn work(
    told: &mpsc::Receiver<BuildRequest>,
    control: &Control,
    mut output: &mut (dyn Write + Send),
) -> Result<NodeCounters> {
    let BuildRequest::Be(order) = next(told)? else { return Err(Error::Protocol("no order".to_owned())) };
    order.job.check()?;
    pin(order.cpu);
    let cpu = sys::clock::thread_cpu().unwrap_or_default();
    let mut tell = |message: BuildReply| send(&mut output, &message);
    let mut counters = match order.role {
        NodeRole::Sender(index) => sender::work(index, &order, told, control, &mut tell),
        NodeRole::Receiver(index) => match order.job.transport {
            Transport::Tcp { window } => assemble::work(&order, window, told, control, &mut tell),
            Transport::Datagrams => count::work(&order, told, control, &mut tell),
            Transport::Credits { credits } => pull::work(index, credits, &order, told, control, &mut tell),
        },
    }?;
    counters.cpu = sys::clock::thread_cpu().unwrap_or_default().saturating_sub(cpu).as_secs_f64();
    Ok(counters)
}
