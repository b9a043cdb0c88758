package io.lendstream.service;

import io.lendstream.service.fake.ConfigurationPage;
import io.lendstream.service.settings.CommonKeys;
import org.junit.jupiter.api.Test;

class ConfigurationDocsTest {
    @Test
    void thePageDescribesEverySettingAsItIs() {
        ConfigurationPage.mustHave("every service", "Settings of every service.", CommonKeys.ALL);
    }
}
