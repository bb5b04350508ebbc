//! The datagrams that the kernel hands up as one message (generic receive offload): all of one size, but for the last,
//! which may be smaller. quinn takes such a message as it is ([`RecvMeta::stride`]); here headers are taken off first.

use quinn::udp::RecvMeta;
use std::io::IoSliceMut;

/// The datagrams of a message.
pub(crate) fn of<'a>(bytes: &'a [u8], meta: &RecvMeta) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    bytes[..meta.len.min(bytes.len())].chunks(meta.stride.max(1))
}

/// Takes the headers off the datagrams of the message in the first buffer. `header` says how many bytes of a datagram
/// are one; none if the datagram is to be dropped. What is left stays in order, and moves together in the first buffer.
/// Where it is no longer of one size, it continues in the next buffer. Returns how many buffers are messages now;
/// datagrams for which there are no buffers left are lost.
pub(crate) fn strip(
    buffers: &mut [IoSliceMut<'_>],
    metas: &mut [RecvMeta],
    mut header: impl FnMut(&[u8]) -> Option<usize>,
) -> usize {
    let (Some((first, others)), Some(&whole)) = (buffers.split_first_mut(), metas.first()) else { return 0 };
    let (len, stride) = (whole.len.min(first.len()), whole.stride.max(1));
    let mut message = 0;
    metas[0].len = 0;
    for begin in (0..len).step_by(stride) {
        let end = len.min(begin + stride);
        let Some(size) = header(&first[begin..end]) else { continue };
        let packet = begin + size..end;
        let RecvMeta { len: filled, stride, .. } = metas[message];
        if filled > 0 && (filled % stride > 0 || packet.len() > stride) {
            message += 1;
            if message == metas.len().min(1 + others.len()) {
                return message;
            }
            metas[message] = RecvMeta { len: 0, ..whole };
        }
        let meta = &mut metas[message];
        if meta.len == 0 {
            meta.stride = packet.len();
        }
        let to = meta.len;
        match message.checked_sub(1) {
            None if to == packet.start => {}
            None => first.copy_within(packet.clone(), to),
            Some(other) => match others[other].get_mut(to..to + packet.len()) {
                Some(room) => room.copy_from_slice(&first[packet.clone()]),
                None => return message,
            },
        }
        meta.len += packet.len();
    }
    message + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a message of `datagrams`, each of which begins with the length of its header, if there are
    /// `buffers` of them; a length of 255 marks a datagram to be dropped. Returns the datagrams of each message.
    fn stripped(datagrams: &[&[u8]], buffers: usize) -> Vec<Vec<Vec<u8>>> {
        let stride = datagrams.first().map_or(0, |first| first.len());
        let mut rooms = vec![[0; 100]; buffers];
        let whole = datagrams.concat();
        rooms[0][..whole.len()].copy_from_slice(&whole);
        let mut slices: Vec<_> = rooms.iter_mut().map(|room| IoSliceMut::new(room)).collect();
        let mut metas = vec![RecvMeta { len: 77, stride: 7, ..RecvMeta::default() }; buffers];
        metas[0] = RecvMeta { len: whole.len(), stride, ..RecvMeta::default() };
        let header = |datagram: &[u8]| Some(datagram[0] as usize).filter(|size| *size != 255);
        let count = strip(&mut slices, &mut metas, header);
        (0..count).map(|i| of(&slices[i], &metas[i]).map(<[u8]>::to_vec).collect()).collect()
    }

    #[test]
    fn headers_of_one_size_leave_one_message() {
        let expected: Vec<Vec<u8>> = vec![vec![9, 1, 2], vec![9, 3, 4], vec![9, 5, 6], vec![9]];
        let got = stripped(&[&[2, 0, 9, 1, 2], &[2, 0, 9, 3, 4], &[2, 0, 9, 5, 6], &[2, 0, 9]], 1);
        assert_eq!(got, [expected]);
    }

    #[test]
    fn datagrams_without_headers_stay_where_they_are() {
        assert_eq!(stripped(&[&[0, 1, 2], &[0, 3, 4], &[0, 5]], 1), [[vec![0, 1, 2], vec![0, 3, 4], vec![0, 5]]]);
        assert_eq!(stripped(&[&[0]], 2), [[[0]]]);
        assert_eq!(stripped(&[], 2), [Vec::<Vec<u8>>::new()]);
    }

    #[test]
    fn dropped_datagrams_leave_no_gap() {
        let bad: &[u8] = &[255, 0, 0];
        assert_eq!(stripped(&[bad, &[1, 2, 3], bad, &[1, 4, 5], bad], 1), [[[2, 3], [4, 5]]]);
        assert_eq!(stripped(&[bad, bad], 1), [Vec::<Vec<u8>>::new()]);
    }

    #[test]
    fn packets_of_other_sizes_continue_in_order_in_further_messages() {
        let datagrams: [&[u8]; 6] =
            [&[1, 10, 11, 12], &[2, 0, 20, 21], &[1, 30, 31, 32], &[0, 40, 41, 42], &[0, 50, 51, 52], &[0, 60]];
        let messages = [
            vec![vec![10, 11, 12], vec![20, 21]],
            vec![vec![30, 31, 32]],
            vec![vec![0, 40, 41, 42], vec![0, 50, 51, 52], vec![0, 60]],
        ];
        assert_eq!(stripped(&datagrams, 4), messages);
        assert_eq!(stripped(&datagrams, 3), messages);
        assert_eq!(stripped(&datagrams, 2), messages[..2], "what has no room is lost");
        assert_eq!(stripped(&datagrams, 1), messages[..1]);
    }
}
