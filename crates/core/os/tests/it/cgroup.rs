//! Limits of recorded containers.

use os::cgroup::{TaskRoom, limits_under, memory_left_under, task_room_under, throttled_under};

const MIB: u64 = 1 << 20;

#[test]
fn recorded_containers_tell_their_limits() {
    let of = |name: &str| {
        let root = testing::container::tree(name);
        let limits = limits_under(root.path()).unwrap();
        let left = memory_left_under(root.path()).unwrap();
        (limits, left, task_room_under(root.path()).unwrap())
    };
    let (free, left, tasks) = of("free-v1");
    assert_eq!((free.version, free.quota, free.memory_bytes, free.processes), (1, None, None, None));
    assert_eq!((left, tasks), (None, None));
    for (name, version, cpus) in [("tight-v1", 1, vec![0, 1]), ("tight-v2", 2, vec![0, 1, 2, 3])] {
        let (limits, left, tasks) = of(name);
        assert_eq!((limits.version, limits.quota.map(|quota| quota.cpus)), (version, Some(0.5)), "{name}");
        assert_eq!(limits.cpuset, Some(cpus), "{name}");
        assert_eq!((limits.memory_bytes, limits.processes), (Some(200 * MIB), Some(12)), "{name}");
        assert!(left.unwrap() < 200 * MIB && left.unwrap() > 190 * MIB, "{name}: {left:?}");
        assert_eq!(tasks.map(|room| (room.limit, room.refused)), Some((12, 0)), "{name}");
    }
    assert_eq!(of("tight-v1").0.disks, ["254:0"]);
    let root = testing::container::tree("tight-v2");
    assert_eq!(throttled_under(root.path()).unwrap().throttled, 7);
}

#[test]
fn limits_above_the_own_group_count() {
    let root = testing::container::tree("pod-v2");
    let limits = limits_under(root.path()).unwrap();
    assert_eq!(limits.quota.map(|quota| quota.cpus), Some(1.0), "the container's, below the pod's 1.5");
    assert_eq!(limits.memory_bytes, Some(512 * MIB), "the container's, below the pod's");
    assert_eq!(memory_left_under(root.path()).unwrap(), Some(500_000_000), "the container's own");
    assert_eq!(
        task_room_under(root.path()).unwrap(),
        Some(TaskRoom { limit: 1024, left: 994, refused: 0 }),
        "the pod's"
    );
    let root = testing::container::tree("container-ns-v2");
    let limits = limits_under(root.path()).unwrap();
    assert_eq!((limits.cpuset, limits.processes), (Some(vec![3, 7]), Some(64)), "the root of its namespace");
}
