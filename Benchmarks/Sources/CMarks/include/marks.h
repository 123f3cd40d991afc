#pragma once

/// Where counting begins and ends: callgrind is told these names.
void counting_begins(void);
void counting_ends(void);
