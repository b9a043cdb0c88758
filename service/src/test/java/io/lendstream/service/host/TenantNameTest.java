package io.lendstream.service.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import org.junit.jupiter.api.Test;

class TenantNameTest {
    @Test
    void aTenantIsNamedByItsDomainAndItsKind() {
        assertThat(TenantName.of(new DomainId("east"), new Tenant.Job(new JobId("bert"))))
                .isEqualTo("lendstream/east/job/bert");
        assertThat(TenantName.of(new DomainId("east"), new Tenant.Service(new ServiceId("chat"))))
                .isEqualTo("lendstream/east/service/chat");
    }

    @Test
    void slashesWithinNamesDoNotSplitThem() {
        String one = TenantName.of(new DomainId("a/job"), new Tenant.Job(new JobId("b")));
        String other = TenantName.of(new DomainId("a"), new Tenant.Job(new JobId("job/b")));
        String marked = TenantName.of(new DomainId("a%2Fjob"), new Tenant.Job(new JobId("b")));

        assertThat(one)
                .isEqualTo("lendstream/a%2Fjob/job/b")
                .isNotEqualTo(other)
                .isNotEqualTo(marked);
        assertThat(TenantName.checked(one)).contains(one);
    }

    @Test
    void theLongestNamesAreNames() {
        String longest = "n".repeat(249);
        String name = TenantName.of(new DomainId(longest), new Tenant.Job(new JobId(longest)));

        assertThat(TenantName.checked(name)).contains(name);
        assertThat(TenantName.checked(name + "n")).isEmpty();
    }
}
