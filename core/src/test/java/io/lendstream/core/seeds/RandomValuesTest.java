package io.lendstream.core.seeds;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RandomValuesTest {
    /** The first value of each of 2,000 seeds. */
    private static <T> List<T> first(Function<RandomValues, T> draw) {
        return LongStream.range(0, 2000)
                .mapToObj(seed -> draw.apply(new RandomValues(seed)))
                .toList();
    }

    @Test
    void equalSeedsGiveEqualValues() {
        assertThat(first(RandomValues::anyInt)).isEqualTo(first(RandomValues::anyInt));
        assertThat(first(values -> values.doubleBetween(0, 5))).isEqualTo(first(values -> values.doubleBetween(0, 5)));
    }

    @Test
    void wholeNumbersReachEveryNumberOfASmallRangeAndNoOther() {
        assertThat(Set.copyOf(first(values -> values.intBetween(-3, 3))))
                .containsExactlyInAnyOrder(-3, -2, -1, 0, 1, 2, 3);
        assertThat(Set.copyOf(first(values -> values.intBetween(7, 9)))).containsExactlyInAnyOrder(7, 8, 9);
        assertThat(Set.copyOf(first(values -> values.intBetween(-9, -7)))).containsExactlyInAnyOrder(-9, -8, -7);
        assertThat(Set.copyOf(first(values -> values.intBetween(4, 4)))).containsExactly(4);
    }

    @Test
    void wholeNumbersReachTheEdgesOfTheLargestRangeAndEveryMagnitude() {
        List<Integer> any = first(RandomValues::anyInt);

        assertThat(any)
                .contains(Integer.MIN_VALUE, Integer.MIN_VALUE + 1, -2, -1, 0, 1, 2)
                .contains(Integer.MAX_VALUE - 1, Integer.MAX_VALUE);
        for (int bits = 0; bits < 32; bits++) {
            int leading = bits;
            assertThat(any)
                    .as("%d leading zeros", bits)
                    .anyMatch(each -> Integer.numberOfLeadingZeros(each) == leading);
        }
    }

    @Test
    void numbersStayInTheirRangeAndReachItsBounds() {
        List<Double> numbers = first(values -> values.doubleBetween(-.5, 20));

        assertThat(numbers).allMatch(each -> each >= -.5 && each <= 20);
        assertThat(numbers).contains(-.5, -.01, 0., .01, 1., 20.).doesNotContain(-1.);
        assertThat(first(values -> values.doubleBetween(.1, 50)))
                .allMatch(each -> each >= .1 && each <= 50)
                .contains(.1, 1., 50.);
    }

    @Test
    void oneOfManyIsAnyOfThem() {
        assertThat(Set.copyOf(first(values -> values.oneOf(List.of("a", "b", "c")))))
                .containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void listsHaveEverySizeThatIsAllowed() {
        List<List<Integer>> lists = first(values -> values.listOf(0, 10, () -> values.intBetween(5, 6)));

        assertThat(lists.stream().map(List::size).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        assertThat(lists.stream().flatMap(List::stream).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(5, 6);
    }

    @Test
    void forOneSeedInTwentyEveryValueIsAnEdge() {
        Set<Integer> edges = Set.of(-1000, -999, -2, -1, 0, 1, 2, 999, 1000);

        List<Boolean> alike = first(values -> {
            List<Integer> numbers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                numbers.add(values.intBetween(-1000, 1000));
            }
            return edges.containsAll(numbers);
        });

        assertThat(alike.stream().filter(each -> each).count()).isBetween(70L, 130L);
    }
}
