package io.lendstream.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.benchmarks.DeclarationStudy.Figures;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Wrong start-up times cost little where truth is learned: three seeds of {@code ./dev bench declarations}. */
@Tag("long")
class DeclarationStudyTest {
    private final DeclarationStudy study = new DeclarationStudy("day", List.of(101L, 102L, 103L));

    /** Without profiles three seeds scatter too much: the benchmark has ten. */
    @Test
    void startUpTimesThatAreDeclaredTooShortHardlyCount() {
        Figures right = study.figures("deepboot", true, DeclarationStudy.RIGHT);

        assertThat(study.figures("deepboot", true, "start-ups / 3").isLike(right))
                .isTrue();
    }

    @Test
    void differencesInBothDirectionsCount() {
        Figures right = new Figures(1000, 99.9);

        assertThat(new Figures(1019, 99.81).isLike(right)).isTrue();
        assertThat(new Figures(1021, 99.9).isLike(right)).isFalse();
        assertThat(new Figures(979, 99.9).isLike(right)).isFalse();
        assertThat(new Figures(1000, 99.79).isLike(right)).isFalse();
    }

    @Test
    void onlyItsOptionsAreRead() {
        assertThat(DeclarationStudy.parse(List.of("--seeds", "3-4", "--workload", "web")))
                .isPresent();
        assertThat(DeclarationStudy.parse(List.of("--seeds"))).isEmpty();
        assertThat(DeclarationStudy.parse(List.of("--seed", "3-4"))).isEmpty();
        assertThat(DeclarationStudy.parse(List.of("--seeds", "4"))).isEmpty();
        assertThat(DeclarationStudy.parse(List.of("--seeds", "5-4"))).isEmpty();
    }
}
