package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.persistent.WhenAbsent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The numbers of GPUs that a job may have within its range, how near to each other they are, and whether it gets them
 * together.
 *
 * @param sizes the numbers that it may have, ascending; if empty, each
 * @param multipleOf each number is a multiple of this one
 * @param wholeNodes whether it takes all GPUs of each of its nodes; if the scheduler tells kinds apart, all of its kind
 * @param topology the domain that its GPUs share; a level of a later version is left out
 * @param gang whether the GPUs that one decision gives it work together or not at all
 */
public record JobShape(
        List<Integer> sizes,
        @WhenAbsent("1") int multipleOf,
        @WhenAbsent("false") boolean wholeNodes,
        Optional<TopologyWish> topology,
        @WhenAbsent("false") boolean gang) {
    /** Each number of GPUs, anywhere. */
    public static final JobShape ANY = new JobShape(List.of(), 1, false, Optional.empty());

    /** A shape of a job that is no gang. */
    public JobShape(List<Integer> sizes, int multipleOf, boolean wholeNodes, Optional<TopologyWish> topology) {
        this(sizes, multipleOf, wholeNodes, topology, false);
    }

    public JobShape {
        Checks.atLeast("multipleOf", 1, multipleOf);
        for (int size : sizes) {
            Checks.atLeast("sizes", 1, size);
        }
        sizes = sizes.stream().distinct().sorted().toList();
        topology = topology.filter(wish -> wish.level() != TopologyLevel.UNKNOWN);
    }

    /** One of some numbers of GPUs. */
    public static JobShape of(List<Integer> sizes) {
        return new JobShape(sizes, 1, false, Optional.empty());
    }

    /** Multiples of a number of GPUs. */
    public static JobShape multiples(int of) {
        return new JobShape(List.of(), of, false, Optional.empty());
    }

    /** Whole nodes. */
    public static JobShape nodes() {
        return new JobShape(List.of(), 1, true, Optional.empty());
    }

    /** The same shape in one domain of a level. */
    public JobShape within(TopologyLevel level, boolean required) {
        return new JobShape(sizes, multipleOf, wholeNodes, Optional.of(new TopologyWish(level, required)), gang);
    }

    /** The same shape of a gang. */
    public JobShape together() {
        return new JobShape(sizes, multipleOf, wholeNodes, topology, true);
    }

    /** Whether it allows each number of GPUs, anywhere. */
    public boolean isAny() {
        return multipleOf == 1 && !wholeNodes && sizes.isEmpty() && topology.isEmpty();
    }

    /** The domain that its GPUs must share. */
    public Optional<TopologyWish> required() {
        return topology.filter(TopologyWish::required);
    }

    /** Whether it may have a number of GPUs, whatever their nodes; 0 is always allowed. */
    public boolean allows(int gpus) {
        return gpus == 0 || (gpus % multipleOf == 0 && (sizes.isEmpty() || Collections.binarySearch(sizes, gpus) >= 0));
    }

    /** The smallest number of at least so many GPUs that it may have, whatever their nodes; 0 if there is none. */
    public int atLeast(int gpus) {
        if (sizes.isEmpty()) {
            long next = ((long) gpus + multipleOf - 1) / multipleOf * multipleOf;
            return next > Integer.MAX_VALUE ? 0 : (int) next;
        }
        for (int size : sizes) {
            if (size >= gpus && size % multipleOf == 0) {
                return size;
            }
        }
        return 0;
    }

    /** The largest number of at most so many GPUs that it may have, whatever their nodes; 0 if there is none. */
    public int atMost(int gpus) {
        if (sizes.isEmpty()) {
            return gpus - gpus % multipleOf;
        }
        int most = 0;
        for (int size : sizes) {
            most = size <= gpus && size % multipleOf == 0 ? size : most;
        }
        return most;
    }

    /** For people, such as {@code multiples of 4 GPUs on whole nodes in one rack}. */
    public String inWords() {
        List<String> parts = new ArrayList<>();
        if (!sizes.isEmpty()) {
            parts.add("sizes " + sizes);
        }
        if (multipleOf > 1) {
            parts.add("multiples of %d GPUs".formatted(multipleOf));
        }
        if (wholeNodes) {
            parts.add("whole nodes");
        }
        topology.ifPresent(near ->
                parts.add("one %s (%s)".formatted(near.level().inWords(), near.required() ? "required" : "preferred")));
        if (gang) {
            parts.add("a gang");
        }
        return parts.isEmpty() ? "any size" : String.join(", ", parts);
    }
}
