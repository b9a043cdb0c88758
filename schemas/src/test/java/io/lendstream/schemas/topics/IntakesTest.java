package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.codec.Codecs;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class IntakesTest {
    private static final DomainId EAST = new DomainId("east");
    private static final DomainId SOUTH = new DomainId("south");
    private static final Intakes TEAMS = Intakes.parse("team-b=south, team-a=east+west,oncall=*");
    private static final TopicCatalogue SITE = new TopicCatalogue("gpus.", TEAMS, Optional.empty());

    @Test
    void readsWhatItWrites() {
        assertThat(TEAMS).hasToString("oncall=*,team-a=east+west,team-b=south");
        assertThat(Intakes.parse(TEAMS.toString())).isEqualTo(TEAMS);
        assertThat(Intakes.parse(" ")).isEqualTo(Intakes.NONE);
    }

    @Test
    void refusesWhatIsNoListOfIntakes() {
        assertThatThrownBy(() -> Intakes.parse("team-a")).hasMessageContaining("write NAME=DOMAIN[+DOMAIN...]");
        assertThatThrownBy(() -> Intakes.parse("team-a=")).hasMessageContaining("'team-a=' is not an intake");
        assertThatThrownBy(() -> Intakes.parse("team-a=east+")).hasMessageContaining("domains joined by '+'");
        assertThatThrownBy(() -> Intakes.parse("team-a=east+*")).hasMessageContaining("'*' alone");
        assertThatThrownBy(() -> Intakes.parse("a=east,a=west")).hasMessageContaining("intake a is listed twice");
        for (String name : new String[] {"Team", "a.b", "-a", "a-", "x-dlq", "a".repeat(31), "a/b"}) {
            assertThatThrownBy(() -> Intakes.parse(name + "=east"))
                    .as(name)
                    .hasMessageContaining("'%s'".formatted(name));
        }
    }

    @Test
    void anIntakeHasItsOwnTopicsBesideTheBaseTopics() {
        assertThat(SITE.names(TopicCatalogue.SERVICES))
                .containsExactly(
                        "gpus.services", "gpus.services.oncall", "gpus.services.team-a", "gpus.services.team-b");
        assertThat(SITE.names(TopicCatalogue.DECISIONS)).containsExactly("gpus.decisions");
        assertThat(SITE.find("gpus.services.team-a")).contains(TopicCatalogue.SERVICES);
        assertThat(SITE.find("gpus.services.team-c")).isEmpty();
        assertThat(SITE.find("gpus.decisions.team-a")).isEmpty();
        assertThat(SITE.intakeOf("gpus.control.night-shift")).contains("night-shift");
        assertThat(SITE.intakeOf("gpus.control")).isEmpty();
        assertThat(new TopicCatalogue("gpus.").intakeOf("gpus.control.oncall")).contains("oncall");
        assertThat(Codecs.readerSchemas(SITE)).containsKeys("gpus.services", "gpus.services.team-a");
    }

    @Test
    void aWriterOfAnIntakeUsesItsTopicsAndNoBaseTopicOfThem() {
        TopicCatalogue writer = new TopicCatalogue("gpus.").writingFor(Optional.of("team-a"));

        assertThat(writer.target(TopicCatalogue.NODES)).isEqualTo("gpus.nodes.team-a");
        assertThat(writer.names(TopicCatalogue.NODES)).containsExactly("gpus.nodes.team-a");
        assertThat(writer.target(TopicCatalogue.PROGRESS)).isEqualTo("gpus.progress");
        assertThat(SITE.target(TopicCatalogue.NODES)).isEqualTo("gpus.nodes");
    }

    @Test
    void aRecordAboutADomainThatItsIntakeDoesNotListIsRefused() {
        SITE.check("gpus.services", SOUTH);
        SITE.check("gpus.services.team-a", EAST);
        SITE.check("gpus.control.oncall", SOUTH);

        assertThatThrownBy(() -> SITE.check("gpus.services.team-a", SOUTH))
                .isInstanceOf(ForeignDomainException.class)
                .hasMessage("a record of gpus.services.team-a is about domain south, but intake team-a may write only"
                        + " about east+west; write it to an intake of that domain, or add the domain to intake"
                        + " team-a in the setting intakes");
    }

    /** A reader may still have partitions of an intake that was taken out of the setting. */
    @Test
    void aRecordOfAnIntakeThatTheSiteNoLongerListsIsRefused() {
        assertThatThrownBy(() -> new TopicCatalogue("gpus.").check("gpus.services.team-a", EAST))
                .isInstanceOf(ForeignDomainException.class)
                .hasMessageContaining("intake team-a, which the setting intakes does not list");
    }

    @Test
    void onlyDomainsThatARestrictedIntakeListsAreIsolated() {
        assertThat(TEAMS.isolates(EAST)).isTrue();
        assertThat(TEAMS.isolates(new DomainId("north"))).isFalse();
    }

    @Test
    void theLongestNameFitsIntoATopicsName() {
        TopicCatalogue site = new TopicCatalogue("a".repeat(199) + ".");

        assertThat(site.name(TopicCatalogue.TRAINING_PROGRESS, "n".repeat(30))).hasSizeLessThanOrEqualTo(249);
    }
}
