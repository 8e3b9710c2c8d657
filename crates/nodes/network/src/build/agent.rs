//! A node of an event builder: it receives and sends one message on each line, whatever launcher started it.

use std::io::{BufRead, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{PoisonError, mpsc};

use launcher::agent::Duty;
use launcher::line::send;

use super::control::{Control, next};
use super::message::{BuildReply, BuildRequest, NodeCounters, NodeRole, Transport, receive};
use super::{assemble, count, pull, sender};
use crate::path::pin;
use crate::{Error, Result};

/// The duty of a node of an event builder. Its name identifies its protocol, so that nodes with an unverified payload
/// cannot join.
pub const DUTY: Duty = Duty { name: "build_verified", work: serve };

/// Serves one job. Returns when it is done, the driver has disconnected, or the node was requests to die.
///
/// # Errors
/// When the driver disconnects or sends a malformed message.
fn serve(input: Box<dyn BufRead + Send>, output: &mut (dyn Write + Send)) -> Result<()> {
    let control = Control::default();
    let (reply, requests) = mpsc::channel();
    std::thread::scope(|scope| {
        let (mut input, control) = (input, &control);
        let listen = move || {
            // The end of input means that the driver is gone, which ends the job.
            while let Ok(Some(message)) = receive::<BuildRequest>(&mut input) {
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
                        if reply.send(other).is_err() {
                            break;
                        }
                    }
                }
            }
            control.stop.store(true, Relaxed);
        };
        std::thread::Builder::new().spawn_scoped(scope, listen).map_err(Error::io("start a thread"))?;
        let worked = work(&requests, control, output);
        control.stop.store(true, Relaxed);
        match worked {
            Ok(counters) if !control.die.load(Relaxed) => send(output, &BuildReply::Done(counters)),
            Ok(_) => Ok(()),
            Err(error) => send(output, &BuildReply::Failed { reason: error.to_string() }),
        }
    })
}

fn work(
    requests: &mpsc::Receiver<BuildRequest>,
    control: &Control,
    mut output: &mut (dyn Write + Send),
) -> Result<NodeCounters> {
    let BuildRequest::Be(order) = next(requests)? else { return Err(Error::Protocol("no order".to_owned())) };
    order.job.check()?;
    pin(order.cpu);
    let cpu = kernels::clock::thread_cpu().unwrap_or_default();
    let mut reply = |message: BuildReply| send(&mut output, &message);
    let mut counters = match order.role {
        NodeRole::Sender(index) => sender::work(index, &order, requests, control, &mut reply),
        NodeRole::Receiver(index) => match order.job.transport {
            Transport::Tcp { window } => assemble::work(index, &order, window, requests, control, &mut reply),
            Transport::Datagrams => count::work(&order, requests, control, &mut reply),
            Transport::Credits { credits } => pull::work(index, credits, &order, requests, control, &mut reply),
        },
    }?;
    counters.cpu = kernels::clock::thread_cpu().unwrap_or_default().saturating_sub(cpu).as_secs_f64();
    Ok(counters)
}
