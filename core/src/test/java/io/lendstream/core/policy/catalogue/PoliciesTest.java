package io.lendstream.core.policy.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import org.junit.jupiter.api.Test;

class PoliciesTest {
    @Test
    void everyPolicyReadsBackWhatItSaysOfItself() {
        for (Policy policy : Policies.all()) {
            assertThat(Policies.parse(policy.spec())).isEqualTo(policy);
            assertThat(Policies.parse(policy.info().name())).isEqualTo(policy);
        }
    }

    @Test
    void anUnknownNameIsAnsweredWithTheKnownOnes() {
        assertThatThrownBy(() -> Policies.parse("depboot"))
                .hasMessage(
                        "there is no policy 'depboot'; policies are [deepboot, lendstream, tiresias, afs, optimus, lyra, clairvoyant, pollux]");
    }

    @Test
    void anUnknownSettingIsAnsweredWithTheKnownOnes() {
        assertThatThrownBy(() -> Policies.parse("deepboot:protect=2"))
                .hasMessageContaining("[protect-scale, place, kinds]");
        assertThatThrownBy(() -> Policies.parse("deepboot:protect-scale=often"))
                .hasMessageContaining("must be a number of at least 0, but was 'often'");
        assertThatThrownBy(() -> Policies.parse("lendstream:plan-every=soon")).hasMessageContaining("such as 60s");
    }

    @Test
    void deepBootChoosesKindsUnlessItIsBlind() {
        Policy blind = Policies.parse("deepboot:kinds=blind");

        assertThat(Policies.all())
                .filteredOn(policy -> policy.kinds().isPresent())
                .extracting(policy -> policy.info().name())
                .containsExactlyInAnyOrder("deepboot", "lendstream");
        assertThat(blind.kinds()).isEmpty();
        assertThat(blind.spec()).isEqualTo("deepboot:protect-scale=1.0:place=near:kinds=blind");
        assertThat(Policies.parse(blind.spec())).isEqualTo(blind);
        assertThat(Policies.parse("deepboot:kinds=aware").spec()).isEqualTo("deepboot:protect-scale=1.0:place=near");
    }

    @Test
    void deepBootProtectsAFreshReplicaFor31SecondsAndAtMost121() {
        Policy deepBoot = Policies.parse("deepboot");

        assertThat(deepBoot.protectFor(0)).hasSeconds(31);
        assertThat(deepBoot.protectFor(1)).hasSeconds(46);
        assertThat(deepBoot.protectFor(100)).hasSeconds(121);
    }

    @Test
    void onlyLendstreamIsExperimentalAndWarnsThatItCanStarveServices() {
        assertThat(Policies.all())
                .filteredOn(policy -> policy.info().isExperimental())
                .extracting(policy -> policy.info().name())
                .containsExactly("lendstream");
        PolicyInfo info = Policies.parse("lendstream:plan-every=30s").info();
        assertThat(info.summary()).startsWith("experimental: can starve services");
        assertThat(info.warning())
                .hasValueSatisfying(warning ->
                        assertThat(warning).startsWith("policy lendstream is experimental: it can starve services"));
    }
}
