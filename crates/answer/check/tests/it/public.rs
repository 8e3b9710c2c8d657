//! The public table: every machine is judged from all others of its model.

use check::{Population, PublicMachine, PublicQuantity, PublicTable};

fn table() -> PublicTable {
    PublicTable::parse(include_str!("../../../../../published/reference/sparecores.csv"))
}

/// Whether two machines should agree in a quantity: bandwidth of all CPUs depends on their number.
fn alike(a: &PublicMachine, b: &PublicMachine, quantity: PublicQuantity) -> bool {
    a.cpu == b.cpu && (quantity == PublicQuantity::Latency || a.cpus == b.cpus)
}

#[test]
fn at_most_one_machine_in_a_hundred_is_called_low() {
    let table = table();
    let (mut judged, mut low, mut judgements) = (0_u32, 0_u32, 0);
    for (at, machine) in table.machines.iter().enumerate() {
        let (mut any, mut bad) = (false, false);
        for quantity in PublicQuantity::ALL {
            let Some(value) = machine.values[quantity as usize] else { continue };
            let others =
                table.machines.iter().enumerate().filter(|(other, one)| *other != at && alike(machine, one, quantity));
            let values: Vec<f64> = others.filter_map(|(_, one)| one.values[quantity as usize]).collect();
            let Some(range) = Population::of(&values) else { continue };
            any = true;
            judgements += 1;
            // The value itself, without an interval: the hardest test.
            bad |= range.is_low(value, quantity.better());
        }
        judged += u32::from(any);
        low += u32::from(bad);
    }
    let rate = 100.0 * f64::from(low) / f64::from(judged);
    println!("| {judged} machines of the public table | {judgements} values | {low} machines LOW, {rate:.2}% |");
    assert!(judged > 3000 && 100 * low <= judged, "{low} of {judged}");
}

#[test]
fn a_damaged_table_has_fewer_values_and_no_impossible_ones() {
    let table = PublicTable::parse("# who\ncpu,cpus,read,write,latency\nA,2,1000,x,-5\nB\nA,2,inf,NaN,80\n");
    assert_eq!(table.machines[0].values, [Some(1e9), None, None]);
    assert_eq!(table.machines[1].values, [None; 3]);
    assert!((table.machines[2].values[2].unwrap() - 80e-9).abs() < 1e-12 && table.machines[2].values[0].is_none());
}
