use super::*;
use crate::{
    tally::ranking::{members, ranking},
    tests::Draws,
};

/// Blocks of random placements with ties, each as rankings and units by seat.
fn blocks(agents: &[u16], rotations: usize, count: u64) -> Vec<(Vec<Ranking>, UnitsBySeat)> {
    let mut draws = Draws(3);
    let size = agents.len();
    let block = |_| {
        let mut units = UnitsBySeat::new(size);
        let rankings = (0..rotations).map(|rotation| {
            let mut seats = agents.to_vec();
            seats.rotate_left(rotation);
            let points: Vec<u64> = (0..size).map(|_| draws.below(3)).collect();
            let before = |own: &u64| points.iter().filter(|&other| other > own).count() as u8;
            let placement: Vec<u8> = points.iter().map(|own| 1 + before(own)).collect();
            let members = members(&seats);
            let ranking = ranking(&seats, &members, &placement);
            for (seat, &member) in members.iter().take(size).enumerate() {
                units.row_mut(usize::from(member))[seat] +=
                    ranking.units(usize::from(member), size) as u8;
            }
            ranking
        });
        (rankings.collect(), units)
    };
    (0..count).map(block).collect()
}

#[test]
fn sums_equal_block_by_block() {
    let cases: [(&[u16], usize); 10] = [
        (&[0, 1], 2),
        (&[0, 1], 1),
        (&[0, 1, 2], 3),
        (&[0, 1, 2, 3], 4),
        (&[0, 1, 2, 3], 1),
        (&[5, 5, 8, 8], 4),
        (&[5, 8, 8], 3),
        (&[0, 1, 2, 3, 4], 5),
        (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 10),
        (&[1, 1, 1, 3, 4, 4], 6),
    ];
    for (agents, rotations) in cases {
        let blocks = blocks(agents, rotations, 200);
        let size = agents.len();
        let mut sums = GroupSums::new(agents);
        for (rankings, units) in &blocks {
            rankings.iter().for_each(|&ranking| sums.add_game(ranking));
            sums.add_block(Block {
                rankings,
                units,
                cluster: 0,
            });
        }
        let expected = |worth: &dyn Fn(Ranking) -> u64| {
            let mut moments = Moments::default();
            for (rankings, _) in &blocks {
                moments.add(rankings.iter().map(|&ranking| worth(ranking)).sum());
            }
            moments
        };
        let n = rotations as u64;
        assert_eq!(
            sums.games().iter().map(|(_, count)| count).sum::<u64>(),
            200 * n
        );
        for member in 0..size {
            let units = |ranking: Ranking| ranking.units(member, size);
            assert_eq!(sums.moments(n, units), expected(&units), "{agents:?}");
            // A member sits in each seat once if it is an agent by itself.
            let apart = distinct(agents).count() == size;
            if rotations > 1 && apart {
                let mut kept = Cluster::new(size);
                for (_, many, cluster) in sums.clusters() {
                    kept.blocks += many * cluster.blocks;
                    kept.squares[member] += many * cluster.squares[member];
                    kept.squares_of_blocks[member] += many * cluster.squares_of_blocks[member];
                    let row = kept.units.row_mut(member).iter_mut();
                    for (sum, units) in row.zip(cluster.units.row(member)) {
                        *sum += many * units;
                    }
                }
                let squares = expected(&|ranking| units(ranking).pow(2)).sum;
                assert_eq!(kept.squares[member], squares, "{agents:?}");
                assert_eq!(kept.blocks, 200, "{agents:?}");
                assert_eq!(
                    kept.squares_of_blocks[member],
                    expected(&units).squares,
                    "{agents:?}"
                );
                for seat in 0..size {
                    let at_seat = blocks
                        .iter()
                        .map(|(_, units)| u64::from(units.row(member)[seat]));
                    assert_eq!(kept.units.row(member)[seat], at_seat.sum::<u64>());
                }
            }
        }
        let mut first = 0;
        for share in sums.shares(n) {
            let own = first..first + share.seats as usize;
            first = own.end;
            let units = |ranking: Ranking| {
                let all = own.clone().map(|m| ranking.units(m, size)).sum::<u64>();
                all - units_within(share.seats)
            };
            let wins = |ranking: Ranking| u64::from(own.clone().any(|m| ranking.wins(m, size)));
            assert_eq!(share.sums.units, expected(&units), "{agents:?}");
            assert_eq!(share.sums.wins, expected(&wins), "{agents:?}");
        }
        assert_eq!(first, size);
    }
}
