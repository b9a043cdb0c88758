package io.lendstream.scheduler;

import io.lendstream.service.fake.ConfigurationPage;
import org.junit.jupiter.api.Test;

class ConfigurationDocsTest {
    @Test
    void thePageDescribesEverySettingAsItIs() {
        ConfigurationPage.mustDescribe("scheduler", SchedulerKeys.ALL);
    }
}
