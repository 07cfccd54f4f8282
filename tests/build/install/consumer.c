/* Uses the installed library as a stranger would: the linked version is the headers', and the presets are
 * inside. */
#include <stdio.h>
#include <string.h>

#include <sapwood/sapwood.h>

int main(void) {
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", SAP_VERSION_MAJOR, SAP_VERSION_MINOR, SAP_VERSION_PATCH);
    if (strcmp(version, sap_version()) != 0) {
        fprintf(stderr, "headers of version %s, library of version %s\n", version, sap_version());
        return 1;
    }
    SapOptions options;
    if (sap_options_preset("drake", &options) != SAP_OK) {
        fprintf(stderr, "%s\n", sap_error_message());
        return 1;
    }
    return 0;
}
