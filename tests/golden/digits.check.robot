*** Comments ***
digits on nucleo-f446re: the firmware in Renode gives the bytes of the integer model.

After `cmake --build build`:   renode-test renode/check.robot

*** Settings ***
Suite Setup       Setup
Suite Teardown    Teardown
Test Teardown     Test Teardown
Resource          ${RENODEKEYWORDS}

*** Test Cases ***
Outputs Equal Those Of The Integer Model
    Execute Script     ${CURDIR}/run.resc
    Execute Command    emulation RunFor "600"
    ${state}=          Execute Command    sysbus ReadDoubleWord `sysbus GetSymbolAddress "onnx2mcu_check_state"`
    Should Contain     ${state}    0x600D0000
